import { describe, expect, test } from 'vitest'
import { entry } from '../../openapi/typed/catalog-document.ts'
import { catalogOf, makeApi, rejecting } from '../api.ts'

describe('GET /openapi.json', () => {
  test('without a published default catalog, the document says so and has the general operations', async () => {
    const { body, status } = await served({ catalog: rejecting('CatalogNotFoundError', '') })

    expect([status, body['x-catalog']]).toEqual([
      200,
      { name: 'orders', namespace: 'default', state: 'not_published', omittedOperations: 0 },
    ])
    expect(body.paths).toHaveProperty(['/workflow/run'])
  })

  test('`catalog` selects the catalog', async () => {
    const { body } = await served({ catalog: catalogOf(entry('a')) }, '/openapi.json?catalog=a%2Fb')

    expect(body['x-catalog']).toEqual({ name: 'a/b', namespace: 'default', state: 'described', omittedOperations: 0 })
  })

  test('a start of a workflow of another catalog than the default one must name the catalog', async () => {
    const catalog = catalogOf(entry('a'))
    const requestOf = async (path: string) =>
      (await served({ catalog }, path)).body.components.schemas.a_request.allOf[1]

    const [own, other] = await Promise.all(['', '?catalog=other'].map((query) => requestOf(`/openapi.json${query}`)))

    expect([own.properties.catalog, own.required]).toEqual([undefined, ['workflowName']])
    expect([other.properties.catalog, other.required]).toEqual([
      { type: 'string', enum: ['other'] },
      ['workflowName', 'catalog'],
    ])
  })

  test('the document is created once for each state of the catalog, and has its ETag', async () => {
    const first = [entry('first')]
    const second = [entry('second')]
    const charge = [entry('charge')]
    let [workflows, activities] = [first, [...charge]]
    let reads = 0
    const { call } = makeApi({
      workflows: {
        catalog: async ({ catalog }) => {
          reads += 1
          return { catalog, inputsChecked: true, workflows, activities }
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
    activities = []
    const withoutActivities = await get(other[1])

    expect([same, other[0], withoutActivities[0], reads]).toEqual([[304, tag], 200, 200, 4])
    expect(new Set([tag, other[1], withoutActivities[1]]).size).toBe(3)
  })

  test('`servers` has the base path, and `security` what the service accepts', async () => {
    const workflows = { catalog: catalogOf() }
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

  test('the maximum of `timeout` is that of the service', async () => {
    const workflows = { catalog: catalogOf() }
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
