import type { Schema } from './schemas/schema.ts'

/** The parts of an OpenAPI document that others are derived from. */
export interface OpenApiDocument {
  openapi: string
  /** By path and method. */
  paths: Record<string, Record<string, OperationObject>>
  components: { schemas: Record<string, Schema>; [kind: string]: unknown }
  security: object[]
  [key: string]: unknown
}

export interface OperationObject {
  operationId: string
  parameters: readonly object[]
  responses: Readonly<Record<string, object>>
  [key: string]: unknown
}
