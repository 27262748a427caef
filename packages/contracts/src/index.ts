/** The contracts between the services: messages and gRPC services generated from `proto/`, and the names on the bus. */

export * from './bus.ts';
export * from './gen/brand_data/v1/accounts.ts';
export * from './gen/brand_data/v1/brand.ts';
export * from './gen/brand_data/v1/catalog.ts';
export * from './gen/brand_data/v1/metering.ts';
