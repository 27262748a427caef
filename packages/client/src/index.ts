/** A client of the Brand Data Service for browsers, Node and other places that have `fetch` (packages/client/README.md). */

export type { Answer, Limit, Match, RecordAnswer, RecordSource } from './answer.ts';
export {
  BrandData,
  type BrandDataOptions,
  type CallOptions,
  type IdentifierKind,
  type RecordOptions,
  type SearchOptions,
  type UsageOptions,
} from './client.ts';
export { BrandDataError, type ErrorCode } from './error.ts';
export type * from './gen/types.ts';
