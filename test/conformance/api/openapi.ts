import { describe, expect, test } from 'vitest'
import type { ApiFixture } from './api-fixture.ts'

/** GET /openapi.json. That it describes every response is checked with each response (`test/support/api.ts`). */
export function openApi(api: () => ApiFixture): void {
  describe('OpenAPI', () => {
    test('the document has an operation for each workflow and handler of the default catalog', async () => {
      const { service, catalog } = api()

      const { status, body } = await service.call('GET', '/openapi.json')

      const paths = Object.keys(body.paths)
      expect([status, body['x-catalog']]).toEqual([
        200,
        { name: catalog, namespace: 'default', state: 'described', omittedOperations: 0 },
      ])
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

    test('the path of a typed operation is that of the request', async () => {
      const { service } = api()

      const request = { workflowName: 'sleepFor', input: { ms: 0 } }
      const { status, body } = await service.post('run#sleepFor', request)

      expect([status, body.status]).toEqual([200, 'completed'])
    })

    test('the examples of typed starts and messages are requests that the service accepts', async () => {
      const { service } = api()
      const { paths } = (await service.call('GET', '/openapi.json')).body
      const exampleOf = (path: string) => paths[path].post.requestBody.content['application/json'].example
      const starts = Object.keys(paths).filter((path) => path.startsWith('/workflow/start#'))

      const answers = await Promise.all(starts.map((path) => service.post('validate', exampleOf(path))))

      expect(answers.map(({ body }) => body)).toEqual(starts.map(() => ({ valid: true })))
      expect(exampleOf('/workflow/run#sleepFor')).toEqual({ workflowName: 'sleepFor', input: { ms: 1 } })
      expect(exampleOf('/workflow/{id}/update/validated#messages')).toEqual({ payload: 1 })
      expect(exampleOf('/workflow/{id}/signal/add#messages')).toEqual({})
    })

    test('the document is not sent again to a client that already has it', async () => {
      const { service } = api()
      const etag = (await service.call('GET', '/openapi.json')).headers.get('ETag') ?? ''

      const { status, text } = await service.call('GET', '/openapi.json', undefined, { 'If-None-Match': etag })

      expect([etag, status, text]).toEqual([expect.stringMatching(/^(?:W\/)?".+"$/), 304, ''])
    })

    test('without an engine the document has the general operations, and says so', async () => {
      const { status, body } = await api().serviceWithoutEngine.call('GET', '/openapi.json')

      expect([status, body['x-catalog'].state, Object.keys(body.paths).length > 40]).toEqual([200, 'unavailable', true])
    })

    test('a catalog that is not published is an error for a client that names it', async () => {
      const { status, body } = await api().service.call('GET', `/openapi.json?catalog=${crypto.randomUUID()}`)

      expect([status, body.error]).toEqual([404, 'CatalogNotFoundError'])
    })
  })
}
