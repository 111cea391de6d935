/**
 * For embedding: mount `createPortico(...).fetch` in any fetch server.
 * On Cloudflare Workers use `portico/workerd`, which has no gRPC.
 */
import './require-node.ts'
import { readConsoleFile } from './service/fronts/console/lazy-files.ts'
import { readDocsFile } from './service/fronts/docs/lazy-files.ts'
import { createPortico as create, type Parts, type Portico } from './service/portico.ts'

export type { Log } from './log.ts'
export { grpcTransport } from './service/engine/transport/grpc/transport.ts'
export { httpApiTransport } from './service/engine/transport/http/transport.ts'
export type { Transport } from './service/engine/transport/transport.ts'
export type { Call } from './service/model/call.ts'
export type { Engine } from './service/model/engine.ts'
export { type ErrorName, ServiceError } from './service/model/errors.ts'
export type { TraceSource } from './service/model/trace-source.ts'
export type { Parts, Portico } from './service/portico.ts'
export { engineTransport } from './service/runtime/engine-transport.ts'
export {
  type Config,
  ConfigError,
  type ParsedPolicy,
  type Policy,
  type PolicyDocument,
  parseConfig,
  parsePolicy,
  type Surroundings,
} from './shared/config.ts'

/**
 * Wires the parts together, with the files of `GET /docs`.
 * Does not connect to anything, and does not read the environment.
 */
export function createPortico(parts: Parts): Portico {
  return create({ readDocsFile, readConsoleFile, ...parts })
}
