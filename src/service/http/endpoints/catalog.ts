/** Lists the workflows and activities that can be started. */
import type { Context } from 'hono'
import type { Env } from '../context.ts'
import { endpoint, endpointOf, type SuccessResponse, type Tools } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { ENGINE_ERRORS } from './errors.ts'

const HEADERS = ['ETag'] as const

const RESPONSES = {
  200: { description: 'The workflows and activities of the catalog', schema: schemaOf('Catalog'), headers: HEADERS },
  304: { description: 'The client has the catalog already', headers: HEADERS },
} satisfies Record<number, SuccessResponse>

const ofDefault = endpoint({
  method: 'get',
  path: '/workflow/catalog',
  id: 'getCatalog',
  tag: 'Service',
  summary: 'List the workflows of the default catalog',
  docs: 'api/catalog.md#catalog',
  headers: ['If-None-Match'],
  responses: RESPONSES,
  errors: [...ENGINE_ERRORS, 'CatalogNotFoundError', 'PayloadCodecError'],
  takes: 'work',
  key: 'ignored',
  verb: 'catalog',
  handle: (c, tools) => respondWith(c, tools, tools.defaultCatalog),
})

const ofName = endpoint({
  method: 'get',
  path: '/workflow/catalog/:catalog',
  id: 'getCatalogByName',
  tag: 'Service',
  summary: 'List the workflows of another catalog',
  docs: 'api/catalog.md#catalog',
  headers: ['If-None-Match'],
  responses: RESPONSES,
  errors: [...ENGINE_ERRORS, 'CatalogNotFoundError', 'PayloadCodecError'],
  takes: 'work',
  key: 'ignored',
  verb: 'catalog',
  handle: (c, tools) => respondWith(c, tools, tools.catalog(c)),
})

async function respondWith(
  c: Context<Env>,
  { workflows, call, respondCatalog }: Tools,
  catalog: string,
): Promise<Response> {
  const listing = await workflows.catalog({ catalog }, call(c))
  return respondCatalog(c, [listing.workflows, listing.activities], () => listing)
}

const taskQueue = endpointOf('taskQueue', {
  method: 'get',
  path: '/task-queues/:taskQueue',
  id: 'describeTaskQueue',
  tag: 'Service',
  summary: 'Get the workers and the backlog of a task queue',
  docs: 'api/service.md#task-queues',
  responses: { 200: { description: 'Its state now', schema: schemaOf('TaskQueue') } },
  errors: ENGINE_ERRORS,
  takes: 'work',
  key: 'ignored',
  input: ({ taskQueue }) => ({ taskQueue }),
})

export const catalogEndpoints = [ofDefault, ofName, taskQueue]
