/** The contracts between the services: generated messages and gRPC services, names on the bus, the form of tokens, operators' roles, services' rights on the servers, the quota's constants. */

export * from './allowance.ts';
export * from './bus.ts';
export * from './callers.ts';
export * from './gen/brand_data/v1/accounts.ts';
export * from './gen/brand_data/v1/brand.ts';
export * from './gen/brand_data/v1/catalog.ts';
export * from './gen/brand_data/v1/diagnosis.ts';
export * from './gen/brand_data/v1/images.ts';
export * from './gen/brand_data/v1/metering.ts';
export * from './holder.ts';
export * from './month.ts';
export * from './quota.ts';
export * from './server-rights.ts';
export * from './token.ts';
