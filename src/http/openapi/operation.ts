import type * as z from 'zod/mini'
import type { ErrorName } from '../../domain/model/errors.ts'
import type { RequestHeader, ResponseHeader } from './headers.ts'
import type { LinkName } from './links.ts'
import type { Schema } from './schemas/schema.ts'

/** One route and what the document says about it. Everything else in the document is derived from these. */
export interface Operation {
  method: 'get' | 'post' | 'patch'
  /** As the router has it. One below `/workflow/:id/` also exists below `/workflow/:id/runs/:rid/`. */
  path: string
  /**
   * Identifies the operation in generated clients. Never changes. In that of a pinned run, `Run` replaces `Workflow`.
   */
  id: string
  tag: Tag
  summary: string
  /** Where docs/api.md describes it: an anchor. */
  docs: string
  description?: string
  /** Whether no token is needed. */
  isPublic?: true
  query?: QueryParameters
  headers?: readonly RequestHeader[]
  body?: RequestBody
  /** The responses that are not errors. */
  responses: Readonly<Record<number, SuccessResponse>>
  /** Errors besides those that every request can get. */
  errors: readonly ErrorName[]
}

export const TAGS = {
  Workflows: 'The published workflows, with the types that their workers publish',
  Start: 'Start workflows',
  Find: 'Find runs',
  Inspect: 'Read the state, the result and the history of runs',
  Messages: 'Send queries, updates and signals to runs',
  Control: 'End and change runs',
  Service: 'The catalog, and the service itself',
} as const

export type Tag = keyof typeof TAGS

export interface QueryParameters {
  schema: z.ZodMiniObject
  descriptions: Readonly<Record<string, string>>
}

export interface RequestBody {
  /** Name of the schema in the components. */
  schema: string
  isRequired: boolean
}

export interface SuccessResponse {
  description: string
  /** Of the JSON body; absent for a response without a body, and for events alone. */
  schema?: Schema
  headers?: readonly ResponseHeader[]
  links?: readonly LinkName[]
  /** Set for a response that can also, or only, be a stream of events: the events with the schemas of their data. */
  events?: Readonly<Record<string, Schema>>
  /** Set for a response that is text: its media types. */
  text?: readonly string[]
}
