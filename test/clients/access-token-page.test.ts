/** The page of docs/access.md: the EventSource of a browser, with access tokens in its URL that expire. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test as sharedTest } from '../support/fixtures.ts'

const OPERATOR = 'operator-s3cret'

const document = await readFile(new URL('../../docs/access.md', import.meta.url), 'utf8')
const [, snippet = ''] = /^```js\n(let from.*?)^```$/ms.exec(document) ?? []

const test = sharedTest.extend('serviceEnv', { scope: 'file' }, () => ({
  SERVICE_API_AUTH_TOKEN: OPERATOR,
  SERVICE_SIGNING_KEY: Buffer.alloc(32, 3).toString('base64url'),
  SERVICE_CORS_ORIGINS: '*',
}))

test('access tokens: the page of the documentation renews them, and misses no item of its stream', async ({
  browser,
  serviceProcess: service,
  cleanup,
}) => {
  const { call } = service
  const asOperator = { Authorization: `Bearer ${OPERATOR}` }
  const post = async (path: string, body: object) => {
    const answer = await call('POST', path, body, asOperator)
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.body
  }
  const { workflowId } = await post('/workflow/start', { workflowName: 'streamSignals', args: [] })
  const script = snippet.replace('https://portico.example.com', service.url).replace('u:ada:chat-1', workflowId)
  let tokens = 0
  const server = createServer(async ({ url }, response) => {
    if (url !== '/my-server/portico-token') return void response.end(`<script type="module">${script};open()</script>`)
    tokens++
    response.end(JSON.stringify(await post('/tokens', { can: ['read'], ids: [workflowId], expiresIn: '1s' })))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanup.defer(() => void server.close())
  const page = await browser.newPage()
  const shown: string[] = []
  page.on('console', (message) => message.type() === 'log' && shown.push(message.text()))
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)

  let published = 0
  await until('two tokens have expired', async () => {
    await post(`/workflow/${workflowId}/stream`, { topic: 't', data: published++ })
    return tokens > 2
  })
  await post(`/workflow/${workflowId}/signal/finish`, {})
  await until('the last item is shown', () => shown.includes(String(published - 1)))
  await page.close()

  expect(shown).toEqual(Array.from({ length: published }, (_, n) => String(n)))
})
