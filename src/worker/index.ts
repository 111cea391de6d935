/** `portico/worker`: publishes a Temporal worker's catalog and records its traces. */
import '../require-node.ts'

export { parseTracesConfig, type WorkerTraces } from '../config/worker.ts'
export type { CatalogDefinition } from '../protocol/catalog.ts'
export { defineCatalog } from './catalog/define-catalog.ts'
export type { HandlerDescription, WorkflowDescription, WorkflowDescriptions } from './catalog/workflow-description.ts'
export type { WorkflowTypesOf } from './catalog/workflow-types-of.ts'
export { type PorticoPluginOptions, porticoPlugin } from './plugin.ts'
export { runArchiver } from './run-archiver.ts'
export { type RunWorkerOptions, runWorker } from './run-worker.ts'
export type { Redact } from './tracing/redact.ts'
export { type Span, span } from './tracing/span.ts'
