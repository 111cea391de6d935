import { type Context, Hono } from 'hono'
import { ServiceError } from '../../domain/model/errors.ts'
import type { Workflows } from '../../domain/model/workflows.ts'
import { lazy } from '../../lib/lazy.ts'
import { type ConstantJsonOptions, createConstantJson } from '../constant-json.ts'
import { type Env, toCall } from '../context.ts'
import type { DescribedCatalog, DocumentOptions } from '../openapi/document.ts'
import { openApiParameters } from '../openapi/parameters.ts'
import { queryParameters } from '../query-parameters.ts'

export interface OpenApiOptions extends Omit<DocumentOptions, 'routes'>, ConstantJsonOptions {
  workflows: Workflows
  defaultCatalog: string
  /** The routes of the app, read when all are mounted. */
  routes: () => DocumentOptions['routes']
}

// See decision 020.
const createDocument = lazy(
  () => import('../openapi/document.ts'),
  ({ openApiDocument }) => openApiDocument,
)

/** `GET /openapi.json`: the API with the workflows of a catalog, for programs. */
export function openApi({ workflows, defaultCatalog, routes, sharesPending = true, ...options }: OpenApiOptions) {
  const constantJson = createConstantJson({ sharesPending })
  // Stand for the document without a catalog.
  const notPublished: object = {}
  const unavailable: object = {}

  async function respondWith(c: Context<Env>, key: object, catalog: DescribedCatalog): Promise<Response> {
    const create = createDocument.current ?? (await createDocument.get())
    return constantJson(c, key, () => create({ ...options, routes: routes() }, catalog))
  }

  return new Hono<Env>().get('/openapi.json', async (c) => {
    const { catalog } = queryParameters(c, openApiParameters)
    const name = catalog ?? defaultCatalog
    const described = { name, isDefault: name === defaultCatalog, inputsChecked: true }
    const call = toCall(c)
    // A client that names a catalog needs its workflows. Without a name, the rest of the API is useful alone.
    const read = workflows.catalog(name, call)
    const found = catalog === undefined ? await orError(read) : await read
    if (!(found instanceof ServiceError))
      return respondWith(c, found.workflows, { ...described, ...found, state: 'described' })
    if (found.error === 'CatalogNotFoundError')
      return respondWith(c, notPublished, { ...described, state: 'not_published', workflows: [] })
    call.note({ catalogUnread: found.message })
    return respondWith(c, unavailable, { ...described, state: 'unavailable', workflows: [] })
  })
}

async function orError<T>(read: Promise<T>): Promise<T | ServiceError> {
  try {
    return await read
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}
