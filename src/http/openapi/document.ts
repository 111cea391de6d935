/** The OpenAPI document. */
import type { CatalogEntry } from '../../protocol/catalog.ts'
import { VERSION } from '../../version.ts'
import { components } from './components.ts'
import { TAGS } from './operation.ts'
import { allOperations } from './operations/operations.ts'
import { type Access, operationObject, securityOf, templateOf } from './path-item.ts'
import type { Schema } from './schemas/schema.ts'
import { catalogOperations, type OperationObject } from './typed/catalog-operations.ts'

export interface DocumentOptions extends Access {
  /** Prefix of every path. */
  basePath: string
  /** Maximum of `timeout`, and of a `wait` for a result. */
  maxTimeoutMs: number
  /** Only these routes are described. */
  routes: readonly Route[]
}

export interface Route {
  method: string
  /** As the router has it. */
  path: string
}

/** Whose workflows the document describes. */
export interface DescribedCatalog {
  name: string
  /** `unavailable`: it could not be read. */
  state: 'described' | 'not_published' | 'unavailable'
  workflows: readonly CatalogEntry[]
}

export interface OpenApiDocument {
  openapi: string
  paths: Record<string, Record<string, OperationObject>>
  components: { schemas: Record<string, Schema>; [kind: string]: unknown }
  [key: string]: unknown
}

/** The API of the service, with the workflows of the catalog. */
export async function openApiDocument(options: DocumentOptions, catalog: DescribedCatalog): Promise<OpenApiDocument> {
  const document = staticDocument(options)
  const { schemas, ...others } = document.components
  const typed = await catalogOperations(catalog.workflows, {
    of: (kind) => operationAt(document, GENERAL[kind]),
    operationIds: Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    ),
    schemaNames: Object.keys(schemas),
  })
  return {
    ...document,
    'x-catalog': { name: catalog.name, state: catalog.state, omittedOperations: typed.omitted },
    paths: { ...document.paths, ...typed.paths } as OpenApiDocument['paths'],
    components: { ...others, schemas: { ...schemas, ...typed.schemas } },
  }
}

const GENERAL = {
  run: '/workflow/run',
  start: '/workflow/start',
  signal: '/workflow/{id}/signal/{name}',
  query: '/workflow/{id}/query/{name}',
  update: '/workflow/{id}/update/{name}',
}

function operationAt({ paths }: OpenApiDocument, path: string): OperationObject {
  const operation = paths[path]?.post
  if (operation === undefined) throw new Error(`The document does not describe POST ${path}`)
  return operation
}

/** The document without workflows. */
export function staticDocument({ basePath, maxTimeoutMs, routes, ...access }: DocumentOptions): OpenApiDocument {
  const served = new Set(routes.map(({ method, path }) => `${method.toLowerCase()} ${path}`))
  const operations = allOperations(maxTimeoutMs).filter(({ method, path }) => served.has(`${method} ${path}`))
  const paths: OpenApiDocument['paths'] = {}
  for (const operation of operations) {
    const template = templateOf(operation.path)
    paths[template] = { ...paths[template], [operation.method]: operationObject(operation, access) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Portico',
      version: VERSION,
      summary: 'A REST service in front of Temporal',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative to the URL of this document.
    servers: [{ url: basePath === '' ? '/' : basePath }],
    security: securityOf(access),
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: components(maxTimeoutMs),
  }
}

const DESCRIPTION = `Starts workflows, reads their status and results, sends them messages, and stops them.

- Errors are \`application/problem+json\`. \`error\` is the name of the error; \`x-errors\` lists the names that an operation can return.
- A path without \`/runs/{rid}\` is about the latest run of the workflow.
- Requests that wait can be answered with server-sent events (\`Accept: text/event-stream\`); \`x-events\` has the schemas of their data.
- \`HEAD\` is \`GET\` without the body. \`OPTIONS\` lists the methods of a route in \`Allow\`.
- \`x-catalog\` says whose workflows have operations of their own. Their paths have a fragment, which is not sent.`
