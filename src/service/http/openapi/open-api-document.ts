import type { CatalogEntry, HandlerEntry } from '../../../shared/wire/catalog.ts'
import type { Schema } from './schema.ts'

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
  parameters: readonly { $ref?: string }[]
  responses: Readonly<Record<string, ResponseObject>>
  [key: string]: unknown
}

export interface ResponseObject {
  content?: Readonly<Record<string, { schema: Schema }>>
  links?: object
}

/** The catalog whose workflows and activities the document describes. */
export interface DescribedCatalog {
  name: string
  /** Whether requests that name no catalog use it. */
  isDefault: boolean
  /** `unavailable`: it could not be read. */
  state: 'described' | 'not_published' | 'unavailable'
  /** False if its schemas describe parsed inputs. */
  inputsChecked: boolean
  workflows: readonly CatalogEntry[]
  activities: readonly HandlerEntry[]
}

/** Creates the document of a deployment, with the workflows of a catalog. */
export type DescribeCatalog = (catalog: DescribedCatalog) => Promise<OpenApiDocument>
