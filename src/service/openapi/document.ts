/** The OpenAPI document of a deployment. */
import { type Endpoint, templateOf } from '../http/endpoint.ts'
import type { DescribedCatalog, OpenApiDocument, OperationObject } from '../http/openapi/open-api-document.ts'
import type { Schema } from '../http/openapi/schema.ts'
import { generalDocument } from './general-document.ts'
import { catalogOperations } from './typed/catalog-operations.ts'
import { GENERAL_PATHS } from './typed/operation-types.ts'

export interface DocumentOptions {
  /** The engine's namespace. */
  namespace: string
  /** Whether its paths begin with `/namespaces/<name>`. */
  isNamespaced: boolean
  /** Prefix of every path. */
  basePath: string
  /** Maximum of `timeout`. */
  maxTimeoutMs: number
  requiresToken: boolean
  /** The mounted endpoints. */
  endpoints: readonly Endpoint[]
}

/** The API of the service, with the workflows and activities of the catalog. */
export async function openApiDocument(options: DocumentOptions, catalog: DescribedCatalog): Promise<OpenApiDocument> {
  const document = forDeployment(await generalDocument(), options)
  const { schemas, ...others } = document.components
  const { name, isDefault, inputsChecked, workflows, activities } = catalog
  const typed = await catalogOperations(
    { workflows, activities, inputsChecked, named: isDefault ? null : name },
    {
      of: (kind) => operationAt(document, GENERAL_PATHS[kind]),
      operationIds: Object.values(document.paths).flatMap((item) =>
        Object.values(item).map(({ operationId }) => operationId),
      ),
      typeNames: [schemas, others.parameters, others.responses].flatMap((named) => Object.keys(Object(named))),
    },
  )
  return {
    ...document,
    'x-catalog': {
      name: catalog.name,
      namespace: options.namespace,
      state: catalog.state,
      omittedOperations: typed.omitted,
    },
    paths: { ...document.paths, ...typed.paths },
    components: { ...others, schemas: { ...schemas, ...typed.schemas } },
  }
}

function operationAt({ paths }: OpenApiDocument, path: string): OperationObject {
  const operation = paths[path]?.post
  if (operation === undefined) throw new Error(`The document does not describe POST ${path}`)
  return operation
}

/** The document with the endpoints, the URL, the limit and the access control of this service. */
function forDeployment(document: OpenApiDocument, options: DocumentOptions): OpenApiDocument {
  const { basePath, maxTimeoutMs, requiresToken, endpoints, isNamespaced } = options
  const served = new Set(endpoints.map(({ path }) => templateOf(path)))
  const schemas = Object.entries(document.components.schemas)
  return {
    ...document,
    servers: [{ url: basePath === '' ? '/' : basePath }],
    // An empty object means that no token is needed.
    security: requiresToken ? document.security : [...document.security, {}],
    paths: Object.fromEntries(
      Object.entries(document.paths)
        .filter(([path]) => served.has(path))
        .map(([path, item]) => [path, isNamespaced ? withoutPublic(item) : item]),
    ),
    components: {
      ...document.components,
      schemas: Object.fromEntries(schemas.map(([name, schema]) => [name, withMaxTimeout(schema, maxTimeoutMs)])),
    },
  }
}

const UNAUTHORIZED: object = { $ref: '#/components/responses/Error401' }

/** Below `/namespaces/<name>` no operation is public: a probe of `/ready` needs a credential. */
function withoutPublic(item: Record<string, OperationObject>): Record<string, OperationObject> {
  return Object.fromEntries(
    Object.entries(item).map(([method, { security, ...operation }]) => [
      method,
      security === undefined ? operation : { ...operation, responses: { ...operation.responses, 401: UNAUTHORIZED } },
    ]),
  )
}

/** The schema of a start with the maximum of `timeout`. */
function withMaxTimeout(schema: Schema, maximum: number): Schema {
  const { properties } = schema as { properties?: { timeout?: Schema } }
  if (properties?.timeout === undefined) return schema
  const [milliseconds, duration] = properties.timeout.anyOf as [Schema, Schema]
  const timeout = { ...properties.timeout, anyOf: [{ ...milliseconds, maximum }, duration] }
  return { ...schema, properties: { ...properties, timeout } }
}
