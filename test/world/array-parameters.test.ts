/** By default axios writes a list as `topic[]=a&topic[]=b`. */
import { expect } from 'vitest'
import { test } from './fixtures.ts'
import { loadPackage } from './programs.ts'

test('axios: a list in its own form is rejected with the form that works, which axios can send', async ({
  counted: { url, first },
}) => {
  const axios = await loadPackage('axios')
  const { workflowId } = (await first.run('streamItself', 1)).body
  const send = (paramsSerializer: object) =>
    axios.get(`${url}/workflow/${workflowId}/stream`, {
      params: { topic: ['a', 'b'] },
      paramsSerializer,
      validateStatus: null,
    })
  const forms = await Promise.all([{}, { indexes: true }, { indexes: null }].map(send))

  expect(forms.map(({ status, data }) => [status, data.issues])).toEqual([
    [400, [{ path: '/topic[]', message: 'must be written as topic=…, once for each value' }]],
    [400, [{ path: '/topic[0]', message: 'must be written as topic=…, once for each value' }]],
    [200, undefined],
  ])
})
