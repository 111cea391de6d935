/** `portico/worker`: what a Temporal worker needs to be served by the API. */
export { parseTracesConfig, type WorkerTraces } from '../config/worker.ts'
export type { CatalogDefinition } from '../protocol/catalog.ts'
export { defineCatalog, type HandlerDescription, type WorkflowDescription, type WorkflowDescriptions } from './define-catalog.ts'
export { type PorticoPluginOptions, porticoPlugin } from './plugin.ts'
export type { Redact } from './redact.ts'
export { type RunWorkerOptions, runWorker } from './run-worker.ts'
export { type Span, span } from './span.ts'
