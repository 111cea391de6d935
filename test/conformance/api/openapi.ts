import { expect, test } from 'vitest'
import type { ApiFixture } from './api-fixture.ts'

/** GET /openapi.json. That it describes every response is checked with each response (`test/support/api.ts`). */
export function openApi(api: () => ApiFixture): void {
  test('OpenAPI: the document has an operation for each workflow and handler of the default catalog', async () => {
    const { service, catalog } = api()

    const { status, body } = await service.call('GET', '/openapi.json')

    const paths = Object.keys(body.paths)
    expect([status, body['x-catalog']]).toEqual([200, { name: catalog, state: 'described', omittedOperations: 0 }])
    expect(paths).toEqual(
      expect.arrayContaining([
        '/workflow/run#sleepFor',
        '/workflow/start#sleepFor',
        '/workflow/{id}/signal/add#messages',
        '/workflow/{id}/query/state#messages',
        '/workflow/{id}/update/validated#messages',
      ]),
    )
    expect(body.components.schemas.sleepFor_input.required).toEqual(['ms'])
  })

  test('OpenAPI: the path of a typed operation is that of the request', async () => {
    const { service } = api()

    const request = { workflowName: 'sleepFor', input: { ms: 0 } }
    const { status, body } = await service.post('run#sleepFor', request)

    expect([status, body.status]).toEqual([200, 'completed'])
  })
}
