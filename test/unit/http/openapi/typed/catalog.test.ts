import { describe, expect, test } from 'vitest'
import { catalog as exampleCatalog } from '../../../../../examples/catalog.ts'
import { ServiceError } from '../../../../../src/domain/model/errors.ts'
import type { Workflows } from '../../../../../src/domain/model/workflows.ts'
import type { HandlerEntry, JsonSchema } from '../../../../../src/protocol/catalog.ts'
import { openApiErrors } from '../../../../support/openapi-validators.ts'
import { makeApi } from '../../api.ts'
import { documentOf, entry } from './catalog-document.ts'

describe('the OpenAPI document of a catalog', () => {
  test('it is valid, and has an operation for each workflow and handler of the example catalog', async () => {
    const document = await documentOf(exampleCatalog.workflows)

    expect(await openApiErrors(document)).toEqual([])
    expect(typedIds(document)).toEqual({
      '/workflow/run#greet': 'run_greet',
      '/workflow/start#greet': 'start_greet',
      '/workflow/run#order': 'run_order',
      '/workflow/start#order': 'start_order',
      '/workflow/{id}/signal/approve#order': 'signal_order_approve',
      '/workflow/{id}/query/progress#order': 'query_order_progress',
      '/workflow/{id}/update/priority#order': 'update_order_priority',
      '/workflow/run#chat': 'run_chat',
      '/workflow/start#chat': 'start_chat',
    })
  })

  test('requests and responses of typed operations have the published schemas', async () => {
    const document = await documentOf(exampleCatalog.workflows)
    const { schemas } = document.components
    const run = document.paths['/workflow/run#greet'].post
    const query = document.paths['/workflow/{id}/query/progress#order'].post

    const request = schemas.greet_request.allOf[1].properties
    const { required, properties } = schemas.greet_result

    expect(run.requestBody.content['application/json'].schema).toEqual({ $ref: '#/components/schemas/greet_request' })
    expect(request.workflowName.const).toBe('greet')
    expect(request.input.$ref).toBe('#/components/schemas/greet_input')
    expect(schemas.greet_input).toMatchObject({ required: ['name'], properties: { name: { minLength: 1 } } })
    expect([required.length, properties.output.anyOf]).toEqual([
      8,
      [{ $ref: '#/components/schemas/greet_output' }, { type: 'null' }],
    ])
    expect(query.responses[200].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/order_query_progress_output',
    })
  })

  test('a workflow without schemas takes input or args', async () => {
    const { components } = await documentOf([entry('plain')])

    expect(components.schemas.plain_request.allOf[1]).toMatchObject({
      required: ['workflowName'],
      properties: { input: {}, args: { type: 'array' } },
    })
  })

  test('typed operations have valid examples of requests and of responses', async () => {
    const document = await documentOf(exampleCatalog.workflows)
    const bodiesOf = (path: string) => {
      const { requestBody, responses } = document.paths[path].post
      return [requestBody, responses[200]].map(({ content }) => content['application/json'].example)
    }
    const input = { orderId: 'string', amount: 1, card: 'string' }
    const output = { orderId: 'string', chargeId: 'string', shipmentId: 'string' }
    const runId = expect.any(String)

    expect(await openApiErrors(document)).toEqual([])
    expect(bodiesOf('/workflow/run#order')).toEqual([
      { workflowName: 'order', input },
      {
        ...{ workflowId: 'example-17', runId, status: 'completed', input, output },
        ...{ trace: null, error: null, errorDetails: null },
      },
    ])
    expect(bodiesOf('/workflow/start#order')[1]).toEqual({ workflowId: 'example-17', runId, status: 'running' })
    expect(bodiesOf('/workflow/{id}/signal/approve#order')[0]).toEqual({ payload: { by: 'string' } })
    expect(bodiesOf('/workflow/{id}/query/progress#order')).toEqual([
      {},
      { stage: 'validating', priority: 'low', approvedBy: 'string' },
    ])
  })

  test('there is no example of a request whose argument is not known, is too long, or must be of another catalog', async () => {
    const workflows = [
      entry('not', { not: { type: ['null', 'string', 'object'] }, type: 'string' }),
      entry('long', { default: 'x'.repeat(5000) }),
      entry('nothing', false),
      { ...entry('optional', { not: {}, type: 'string' }), inputOptional: true },
      entry('plain'),
    ]
    const { paths } = await documentOf(workflows)
    const exampleOf = (name: string) =>
      paths[`/workflow/run#${name}`].post.requestBody.content['application/json'].example

    expect(workflows.map(({ name }) => exampleOf(name))).toEqual([
      ...[undefined, undefined],
      ...['nothing', 'optional', 'plain'].map((workflowName) => ({ workflowName, args: [] })),
    ])
  })

  test('an argument may be left out if the catalog says so', async () => {
    const said = (name: string, inputOptional: boolean | null) => ({
      ...entry(name, { type: 'string' }),
      inputOptional,
      signals: [{ ...handler('go', { type: 'string' }), inputOptional }],
    })
    const document = await documentOf([said('optional', true), said('required', false), said('unsaid', null)])

    const { schemas } = document.components
    const bodyOf = (name: string) => document.paths[`/workflow/{id}/signal/go#${name}`].post.requestBody
    expect(await openApiErrors(document)).toEqual([])
    expect(schemas.optional_request.allOf[1]).toMatchObject({
      required: ['workflowName'],
      properties: { input: { $ref: '#/components/schemas/optional_input' }, args: { maxItems: 0 } },
      else: { required: ['args'] },
    })
    expect([bodyOf('optional').required, schemas.optional_signal_go_request.required]).toEqual([false, undefined])
    for (const name of ['required', 'unsaid']) {
      expect(schemas[`${name}_request`].allOf[1].required).toEqual(['workflowName', 'input'])
      expect([bodyOf(name).required, schemas[`${name}_signal_go_request`].required]).toEqual([true, ['payload']])
    }
  })

  test('of parsed inputs, fields with a default and the argument itself may be left out', async () => {
    const properties = { id: { type: 'string' }, label: { type: 'string', default: 'x' } }
    const schema = { type: 'object', properties, required: ['id', 'label'] }
    const workflow = { ...entry('parse', schema), outputSchema: schema, signals: [handler('go', schema)] }
    const workflows = { catalog: async (catalog: string) => ({ catalog, inputsChecked: false, workflows: [workflow] }) }

    const document = await (await makeApi({ workflows }).call('GET', '/openapi.json')).json()

    const { schemas } = document.components
    expect(await openApiErrors(document)).toEqual([])
    expect([schemas.parse_input.required, schemas.parse_output.required]).toEqual([['id'], ['id', 'label']])
    expect(schemas.parse_request.allOf[1].required).toEqual(['workflowName'])
    expect(schemas.parse_signal_go_request).not.toHaveProperty('required')
    expect(document.paths['/workflow/{id}/signal/go#parse'].post.requestBody.required).toBe(false)
  })

  test('an id depends on its own name alone', async () => {
    const alone = typedIds(await documentOf([entry('order')]))
    const among = typedIds(await documentOf([entry('other'), entry('order'), entry('orderItem')]))

    expect(among).toMatchObject(alone)
  })

  test('an id does not change when a name with other characters is published, and neither does the id of that name', async () => {
    const plain = typedIds(await documentOf([entry('orderItem')]))
    const punctuated = typedIds(await documentOf([entry('order-item')]))
    const both = typedIds(await documentOf([entry('order-item'), entry('order.item'), entry('orderItem')]))

    expect(plain).toEqual({
      '/workflow/run#orderItem': 'run_orderItem',
      '/workflow/start#orderItem': 'start_orderItem',
    })
    expect(Object.values(punctuated)).toEqual(
      ['run', 'start'].map((kind) => matching(`${kind}_order_item_[\\da-f]{8}`)),
    )
    expect(both).toMatchObject({ ...plain, ...punctuated })
  })

  test('identifiers that differ only in case and underscores have other ids than each of them alone', async () => {
    const ids = Object.values(typedIds(await documentOf([entry('orderItem'), entry('order_item')])))

    expect(new Set(ids.map((id) => id.replaceAll('_', '').toLowerCase())).size).toBe(4)
    expect(ids).toEqual(ids.map(() => matching('(?:run|start)_order_?[iI]tem_[\\da-f]{8}')))
  })

  test('two workflows may have handlers of one name with other schemas', async () => {
    const withSet = (name: string, type: string) => ({ ...entry(name), updates: [handler('set', { type })] })
    const document = await documentOf([withSet('one', 'string'), withSet('two', 'number')])

    expect(typedIds(document)).toMatchObject({
      '/workflow/{id}/update/set#one': 'update_one_set',
      '/workflow/{id}/update/set#two': 'update_two_set',
    })
    expect(document.components.schemas.two_update_set_input).toEqual({ type: 'number' })
  })
})

describe('GET /openapi.json', () => {
  test('without a published default catalog, the document says so and has the general operations', async () => {
    const { body, status } = await served({
      catalog: () => Promise.reject(new ServiceError('CatalogNotFoundError', '')),
    })

    expect([status, body['x-catalog']]).toEqual([
      200,
      { name: 'orders', namespace: 'default', state: 'not_published', omittedOperations: 0 },
    ])
    expect(body.paths).toHaveProperty(['/workflow/run'])
  })

  test('if the engine is unavailable, the document says so and has the general operations', async () => {
    const catalog = () => Promise.reject(new ServiceError('EngineUnavailableError', 'no response'))

    const { body, status } = await served({ catalog })

    expect([status, body['x-catalog'].state]).toEqual([200, 'unavailable'])
  })

  test('a catalog that the request names must exist', async () => {
    const { status, body } = await served(
      { catalog: () => Promise.reject(new ServiceError('CatalogNotFoundError', 'not published')) },
      '/openapi.json?catalog=other',
    )

    expect([status, body.error]).toEqual([404, 'CatalogNotFoundError'])
  })

  test('`catalog` selects the catalog', async () => {
    const { body } = await served(
      { catalog: async (catalog) => ({ catalog, inputsChecked: true, workflows: [entry('a')] }) },
      '/openapi.json?catalog=a%2Fb',
    )

    expect(body['x-catalog']).toEqual({ name: 'a/b', namespace: 'default', state: 'described', omittedOperations: 0 })
  })

  test('a start of a workflow of another catalog than the default one must name the catalog', async () => {
    const catalog: Workflows['catalog'] = async (catalog) => ({ catalog, inputsChecked: true, workflows: [entry('a')] })
    const requestOf = async (path: string) =>
      (await served({ catalog }, path)).body.components.schemas.a_request.allOf[1]

    const [own, other] = await Promise.all(['', '?catalog=other'].map((query) => requestOf(`/openapi.json${query}`)))

    expect([own.properties.catalog, own.required]).toEqual([undefined, ['workflowName']])
    expect([other.properties.catalog, other.required]).toEqual([
      { type: 'string', enum: ['other'] },
      ['workflowName', 'catalog'],
    ])
  })

  test('other parameters are rejected', async () => {
    const { status } = await served({}, '/openapi.json?catalogue=x')

    expect(status).toBe(400)
  })

  test('the document is created once for each state of the catalog, and has its ETag', async () => {
    const first = [entry('first')]
    const second = [entry('second')]
    let workflows = first
    let reads = 0
    const { call } = makeApi({
      workflows: {
        catalog: async (catalog) => {
          reads += 1
          return { catalog, inputsChecked: true, workflows }
        },
      },
    })
    const get = async (tag = '') => {
      const response = await call('GET', '/openapi.json', undefined, { 'If-None-Match': tag })
      return [response.status, response.headers.get('ETag') ?? ''] as const
    }

    const [, tag] = await get()
    const same = await get(tag)
    workflows = second
    const other = await get(tag)

    expect([same, other[0], reads]).toEqual([[304, tag], 200, 3])
    expect(other[1]).not.toBe(tag)
  })

  test('`servers` has the base path, and `security` what the service accepts', async () => {
    const workflows = { catalog: async (catalog: string) => ({ catalog, inputsChecked: true, workflows: [] }) }
    const options = { workflows, mount: { basePath: '/portico' }, auth: { tokens: ['s3cret'] } }
    const response = await makeApi(options).call('GET', '/portico/openapi.json', undefined, {
      Authorization: 'Basic s3cret',
    })
    const document = await response.json()
    const open = await (await makeApi({ workflows }).call('GET', '/openapi.json')).json()

    expect([document.servers, open.servers]).toEqual([[{ url: '/portico' }], [{ url: '/' }]])
    expect(document.security).toEqual([{ basic: [] }, { bearer: [] }, { token: [] }])
    expect(open.security.at(-1)).toEqual({})
  })

  test('it needs a token', async () => {
    const { call } = makeApi({ auth: { tokens: ['s3cret'] } })

    expect((await call('GET', '/openapi.json')).status).toBe(401)
  })

  test('the maximum of `timeout` is that of the service', async () => {
    const workflows = { catalog: async (catalog: string) => ({ catalog, inputsChecked: true, workflows: [] }) }
    const { call } = makeApi({ workflows, maxTimeoutMs: 5000 })

    const { components } = await (await call('GET', '/openapi.json')).json()

    expect(components.schemas.StartRequest.properties.timeout.anyOf[0].maximum).toBe(5000)
  })
})

async function served(
  workflows: NonNullable<Parameters<typeof makeApi>[0]>['workflows'] & object,
  path = '/openapi.json',
) {
  const response = await makeApi({ workflows }).call('GET', path)
  return { status: response.status, body: await response.json() }
}

/** The ids of the operations of workflows, by path. */
function typedIds({ paths }: { paths: Record<string, { post: { operationId: string } }> }): Record<string, string> {
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) => (path.includes('#') ? [[path, item.post.operationId]] : [])),
  )
}

function matching(pattern: string) {
  return expect.stringMatching(new RegExp(`^${pattern}$`))
}

function handler(name: string, inputSchema: JsonSchema | null = null): HandlerEntry {
  return { name, description: null, inputSchema, inputOptional: null, outputSchema: null }
}
