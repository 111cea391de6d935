/** What workers publish and the API reads: `docs/protocol.md`. */
import * as z from 'zod/mini'
import { isObject } from '../lib/json.ts'
import { isTraceTemplate } from './trace/template.ts'
import type { WorkerVersion } from './worker-version.ts'

/** Workflow type of the run that holds a catalog, and its task queue, which no worker polls. */
export const CATALOG_TYPE = '$catalog'

export function catalogWorkflowId(catalog: string): string {
  return `$catalog:${catalog}`
}

export type JsonSchema = Record<string, unknown> | boolean

export interface HandlerEntry {
  name: string
  description: string | null
  inputSchema: JsonSchema | null
  /** Whether the argument may be left out. Null if the worker does not say: then nothing is checked. */
  inputOptional: boolean | null
  outputSchema: JsonSchema | null
}

export interface CatalogEntry extends HandlerEntry {
  aliases: string[]
  signals: HandlerEntry[]
  queries: HandlerEntry[]
  updates: HandlerEntry[]
}

export interface CatalogDefinition {
  workflows: CatalogEntry[]
  /** Maps names and aliases to the canonical name. */
  workflowNames: Record<string, string>
  /** Those that may be started without a workflow. Absent without any: then no name is checked. */
  activities?: HandlerEntry[]
}

/** Where traces are archived, with the placeholders `{namespace}` and `{runId}`. False: they are not archived. */
export type TraceTemplates = { remote?: string | undefined; local?: string | undefined } | false

export interface CatalogMemo {
  /** Maps names and aliases to the canonical name. */
  workflowNames: ReadonlyMap<string, string>
  hash: string | null
  /** Null if the worker does not say. */
  traces: TraceTemplates | null
  /** The version of the worker that published it; null for a worker without versioning. */
  version: WorkerVersion | null
  /** Whether the worker has its own `redact` function: then only archived traces are shown with their values. */
  redacted: boolean
  /** The identity under which the worker that published it polls; null if the worker does not say. */
  publisher: string | null
}

const jsonSchema: z.ZodMiniType<JsonSchema> = z.union([z.boolean(), z.custom<Record<string, unknown>>(isObject)])

const handlerEntry = z.object({
  name: z.string(),
  description: orNull(z.string()),
  inputSchema: orNull(jsonSchema),
  inputOptional: orNull(z.boolean()),
  outputSchema: orNull(jsonSchema),
})

const handlerEntries = orEmpty(handlerEntry)

const catalogEntry = z.extend(handlerEntry, {
  aliases: orEmpty(z.string()),
  signals: handlerEntries,
  queries: handlerEntries,
  updates: handlerEntries,
})

const workerVersion: z.ZodMiniType<WorkerVersion> = z.object({ deploymentName: z.string(), buildId: z.string() })

const traceTemplate = z.optional(z.string().check(z.refine(isTraceTemplate)))

const traceTemplates = z.union([z.literal(false), z.object({ remote: traceTemplate, local: traceTemplate })])

/** The workflows of a published definition, with defaults for absent keys; null if the definition is invalid. */
export function parseCatalogWorkflows(definition: unknown): CatalogEntry[] | null {
  return z.object({ workflows: z.array(catalogEntry) }).safeParse(definition).data?.workflows ?? null
}

/** The activities of a published definition. */
export function parseCatalogActivities(definition: unknown): HandlerEntry[] {
  return z.object({ activities: handlerEntries }).safeParse(definition).data?.activities ?? []
}

/** The memo of a catalog's run; null if it is invalid. */
export function parseCatalogMemo(memo: ReadonlyMap<string, unknown>): CatalogMemo | null {
  const names = memo.get('workflowNames')
  if (!isObject(names)) return null
  const hash = memo.get('hash')
  const publisher = memo.get('publisher')
  return {
    workflowNames: new Map(
      Object.entries(names).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
    hash: typeof hash === 'string' ? hash : null,
    traces: traceTemplates.safeParse(memo.get('traces')).data ?? null,
    version: workerVersion.safeParse(memo.get('version')).data ?? null,
    redacted: memo.get('redacted') === true,
    publisher: typeof publisher === 'string' ? publisher : null,
  }
}

function orNull<T>(schema: z.ZodMiniType<T>) {
  return z.pipe(
    z.nullish(schema),
    z.transform((value): T | null => value ?? null),
  )
}

function orEmpty<T>(schema: z.ZodMiniType<T>) {
  return z.pipe(
    z.nullish(z.array(schema)),
    z.transform((values): T[] => values ?? []),
  )
}
