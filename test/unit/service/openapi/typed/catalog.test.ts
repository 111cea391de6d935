import { describe, expect, test } from 'vitest'
import { catalog as exampleCatalog } from '../../../../../examples/catalog.ts'
import type { HandlerEntry, JsonSchema } from '../../../../../src/shared/wire/catalog.ts'
import { openApiErrors } from '../../../../support/openapi-validators.ts'
import { makeApi } from '../../http/api.ts'
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
    const workflows = {
      catalog: async ({ catalog }: { catalog: string }) => ({
        catalog,
        inputsChecked: false,
        workflows: [workflow],
        activities: [],
      }),
    }

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
    expect(typedIds(await documentOf([entry('other'), entry('order'), entry('orderItem')]))).toMatchObject(alone)
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

  test('an activity has the operations of a start, with its own types, also beside a workflow of its name', async () => {
    const outputSchema = { type: 'integer' }
    const charge = { ...handler('charge', { type: 'string' }), description: 'Charges a card.', outputSchema }
    const workflow = { ...entry('charge', { type: 'boolean' }), signals: [handler('go')] }
    const document = await documentOf([workflow], [charge, handler('$hidden')])
    const { post: run } = document.paths['/activity/run#charge']
    const bodiesOf = (path: string) => {
      const { requestBody, responses } = document.paths[path].post
      return [requestBody, responses[200]].map(({ content }) => content['application/json'])
    }
    const [request, response] = bodiesOf('/activity/run#charge')
    const { schemas } = document.components
    const ids = { activityId: 'example-17', runId: expect.any(String) }

    expect(await openApiErrors(document)).toEqual([])
    expect(typedIds(document)).toEqual({
      '/workflow/run#charge': 'run_charge',
      '/workflow/start#charge': 'start_charge',
      '/workflow/{id}/signal/go#charge': 'signal_charge_go',
      '/activity/run#charge': 'run_activity_charge',
      '/activity/start#charge': 'start_activity_charge',
    })
    expect([run.tags, run.summary, run.description]).toEqual([['Activities'], 'Run activity charge', 'Charges a card.'])
    expect(schemas.activity_charge_request).toMatchObject({
      allOf: [{ $ref: '#/components/schemas/StartActivityOptions' }, { required: ['activityName', 'input'] }],
    })
    expect(schemas.StartActivityOptions).toMatchObject({ properties: { heartbeatTimeout: {} } })
    expect(schemas.StartActivityOptions).not.toHaveProperty('not')
    expect([schemas.activity_charge_input, schemas.charge_input]).toEqual([{ type: 'string' }, { type: 'boolean' }])
    expect(request).toEqual({
      schema: { $ref: '#/components/schemas/activity_charge_request' },
      example: { activityName: 'charge', input: 'string' },
    })
    expect(schemas.activity_charge_result.required).toHaveLength(7)
    expect(response.example).toEqual({
      ...ids,
      ...{ status: 'completed', input: 'string', output: 1, error: null, errorDetails: null },
    })
    expect(bodiesOf('/activity/start#charge')[1].example).toEqual({ ...ids, status: 'running' })
  })
})

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
