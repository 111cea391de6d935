/**
 * For embedding: mount `createPortico(...).fetch` in any fetch server.
 * On Cloudflare Workers use `portico/workerd`, which has no gRPC.
 */
import './require-node.ts'
import { readDocsFile } from './docs-page/lazy-files.ts'
import { createPortico as create, type Parts, type Portico } from './portico.ts'

export {
  type Config,
  ConfigError,
  type ParsedPolicy,
  type Policy,
  type PolicyDocument,
  parseConfig,
  parsePolicy,
  type Surroundings,
} from './config.ts'
export type { Call } from './domain/model/call.ts'
export type { Engine } from './domain/model/engine.ts'
export { type ErrorName, ServiceError } from './domain/model/errors.ts'
export type { TraceSource } from './domain/model/trace-source.ts'
export { grpcTransport } from './engine/transport/grpc/transport.ts'
export { httpApiTransport } from './engine/transport/http/transport.ts'
export type { Transport } from './engine/transport/transport.ts'
export type { Log } from './log.ts'
export type { Parts, Portico } from './portico.ts'
export { engineTransport } from './runtime/engine-transport.ts'

/**
 * Wires the parts together, with the files of `GET /docs`.
 * Does not connect to anything, and does not read the environment.
 */
export function createPortico(parts: Parts): Portico {
  return create({ readDocsFile, ...parts })
}
