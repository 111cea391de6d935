/** Redirects, with real servers. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../../../src/client/index.ts'

type Answer = { status: number; location: string } | object

/** A server, and the requests that it got. */
async function serverThat(respond: (request: IncomingMessage) => Answer) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers['x-secret'] ?? ''}`)
    const answer = respond(request)
    if ('location' in answer) response.writeHead(answer.status, { Location: answer.location }).end()
    else response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const headers = { 'X-Secret': 's3cret' }

test.for([301, 302, 303, 307, 308])('a redirect to another origin is not followed: %i (threat 99)', async (status) => {
  const other = await serverThat(() => ({}))
  const { url } = await serverThat(() => ({ status, location: `${other.url}/elsewhere` }))
  const client = createClient({ url, headers, token: 't' })

  const failed = expect.objectContaining({ error: 'UnexpectedResponseError', status })
  await expect(client.status('x')).rejects.toEqual(failed)
  await expect(client.start('order', { input: 'secret' })).rejects.toThrow(
    `/workflow/start: the redirect to ${other.url}/elsewhere is not followed; set url to the address of the service`,
  )
  expect(other.requests).toEqual([])
})

test('a redirect to the same origin is followed, with the method, the body and the headers', async () => {
  const { url, requests } = await serverThat(({ url: path = '' }) =>
    path.startsWith('/new/') ? { path } : { status: 308, location: `/new${path}` },
  )
  const client = createClient({ url, headers })

  expect(await client.request('GET', '/workflow/x/status')).toEqual({ path: '/new/workflow/x/status' })
  expect(await client.request('POST', '/workflow/start', { body: { workflowName: 'order' } })).toEqual({
    path: '/new/workflow/start',
  })
  expect(requests).toEqual([
    'GET /workflow/x/status s3cret',
    'GET /new/workflow/x/status s3cret',
    'POST /workflow/start s3cret',
    'POST /new/workflow/start s3cret',
  ])
})

test('a redirect that would make a GET of a POST, one without an address, and a loop are not followed (threat 99)', async () => {
  const seeOther = await serverThat(() => ({ status: 303, location: '/result' }))
  const nowhere = await serverThat(() => ({ status: 307, location: 'http://[' }))
  const loop = await serverThat(() => ({ status: 307, location: '/loop' }))

  await expect(createClient(seeOther).request('POST', '/workflow/start', { body: {} })).rejects.toThrow('not followed')
  await expect(createClient(nowhere).status('x')).rejects.toThrow('the redirect is not followed')
  await expect(createClient(loop).status('x')).rejects.toThrow('not followed')
  expect([seeOther, nowhere, loop].map(({ requests }) => requests.length)).toEqual([1, 1, 6])
})
