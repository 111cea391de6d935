/** `GET /openapi.json`: the API with the workflows of a catalog, for programs. */
import * as z from 'zod/mini'
import { ServiceError } from '../../model/errors.ts'
import { endpoint } from '../endpoint.ts'
import type { DescribedCatalog } from '../openapi/open-api-document.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { ENGINE_ERRORS } from './errors.ts'
import { optional } from './fields/json-forms.ts'
import { catalogName } from './fields/names.ts'

const HEADERS = ['ETag'] as const

// Cache keys of the document if the catalog is not published, and if it could not be read.
const notPublished: object = {}
const unavailable: object = {}

export const openApiEndpoint = endpoint({
  method: 'get',
  path: '/openapi.json',
  id: 'getOpenApi',
  tag: 'Service',
  summary: 'Get this document',
  docs: 'api/catalog.md#openapi',
  query: z.strictObject({
    catalog: optional(catalogName, 'The catalog whose workflows the document describes. Default: that of the service'),
  }),
  headers: ['If-None-Match'],
  responses: {
    200: { description: 'The document', schema: schemaOf('OpenApi'), headers: HEADERS },
    304: { description: 'The client has the document already', headers: HEADERS },
  },
  errors: [...ENGINE_ERRORS, 'CatalogNotFoundError', 'PayloadCodecError'],
  takes: 'work',
  key: 'ignored',
  verb: 'catalog',
  async handle(c, { query, call: startCall, workflows, defaultCatalog, describeCatalog, respondDocument }) {
    const { catalog } = query(c)
    const name = catalog ?? defaultCatalog
    const described = { name, isDefault: name === defaultCatalog, inputsChecked: true, workflows: [], activities: [] }
    const respondWith = (keys: object[], catalog: DescribedCatalog) =>
      respondDocument(c, keys, () => describeCatalog(catalog))
    const call = startCall(c)
    // A client that names a catalog needs its workflows. Otherwise the document is useful without them.
    const read = workflows.catalog({ catalog: name }, call)
    const found = catalog === undefined ? await orError(read) : await read
    if (!(found instanceof ServiceError))
      return respondWith([found.workflows, found.activities], { ...described, ...found, state: 'described' })
    if (found.error === 'ForbiddenError') throw found
    if (found.error === 'CatalogNotFoundError')
      return respondWith([notPublished], { ...described, state: 'not_published' })
    call.note({ catalogUnread: found.message })
    return respondWith([unavailable], { ...described, state: 'unavailable' })
  },
})

async function orError<T>(read: Promise<T>): Promise<T | ServiceError> {
  try {
    return await read
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}
