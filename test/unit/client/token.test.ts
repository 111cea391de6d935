/** Tokens that expire, and the function that returns them. The clock is virtual. */
import { expect, test } from 'vitest'
import { clientOf, clientWith, problem, resetBeforeEach, sent } from './scripted-service.ts'
import { at, done, events, item, readAll, stream, workflow } from './scripted-stream.ts'

resetBeforeEach()

/** Returns `t1`, `t2`, … */
function counting() {
  let count = 0
  return async () => `t${++count}`
}

const credentials = () => sent.map(({ headers }) => headers.get('Authorization'))

const expired = problem(401, 'UnauthorizedError')

const ok = () => Response.json({})

test('token: the result of the function is kept until it is rejected; then the request is sent again with another', async () => {
  const client = clientOf([ok, ok, expired, ok, ok], { token: counting() })

  for (let calls = 0; calls < 3; calls++) await client.status('w')
  await client.signal('w', 'approve', {}).catch(() => {})

  expect(credentials().slice(0, 4)).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t1', 'Bearer t2'])
  expect(new Set(credentials().slice(4))).toEqual(new Set(['Bearer t2']))
})

test('token: a second rejection, the same token again, and a string that is rejected are the error', async () => {
  const clients = [
    clientOf([expired], { token: counting() }),
    clientOf([expired], { token: () => 'same' }),
    clientOf([expired], { token: 'text' }),
  ]

  for (const client of clients)
    await expect(client.status('w')).rejects.toMatchObject({ error: 'UnauthorizedError', status: 401 })

  expect(credentials()).toEqual(['Bearer t1', 'Bearer t2', 'Bearer same', 'Bearer text'])
})

test('token: an error of the function is the error of the call, and nothing is sent', async () => {
  const failure = new Error('no session')
  const client = clientOf([ok], { token: () => Promise.reject(failure) })

  await expect(client.status('w')).rejects.toBe(failure)
  expect(sent).toEqual([])
})

test('token: one that a header cannot have is rejected, and not shown (threat 100)', async () => {
  const client = clientOf([ok], { token: () => 'sécret\n' })

  await expect(client.status('w')).rejects.toThrow(/^token must be printable ASCII$/)
  expect(sent).toEqual([])
})

test('token: requests that are rejected at the same time do not replace a newer token', async () => {
  const client = clientWith(
    ({ headers, signal }) =>
      headers.get('Authorization') === 'Bearer t1' && sent.length > 1 ? expired({ signal }) : ok(),
    { token: counting() },
  )
  await client.status('w')

  await client.status('w')
  await client.status('w')

  expect(credentials()).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2', 'Bearer t2'])
})

test('token: a request that is rejected after a stream has ended with the same token is sent again with another', async () => {
  const rejection = Promise.withResolvers<Response>()
  const client = clientWith(
    async ({ url, headers, signal }) => {
      if (url.includes('/stream')) return events(workflow(), item(0), done)({ signal })
      return headers.get('Authorization') === 'Bearer t1' && sent.length > 1 ? rejection.promise : ok()
    },
    { token: counting() },
  )

  await client.status('w')
  const status = client.status('w')
  for await (const _ of client.stream('w'));
  rejection.resolve(expired({ signal: new AbortController().signal }))
  await status

  expect(credentials().at(-1)).toBe('Bearer t2')
})

test('token: a stream that ends when its token expires continues with another, without losing an item', async () => {
  const responses = [events(workflow(), item(0)), expired, events(workflow(1), item(1), done)]

  const { items, error } = await readAll(stream(responses, {}, { token: counting() }))

  expect(error).toBeUndefined()
  expect(items.map(({ offset }) => offset)).toEqual([0, 1])
  expect(sent.map(({ headers }) => headers.get('Last-Event-ID'))).toEqual([null, at(0), at(0)])
  expect(credentials()).toEqual(['Bearer t1', 'Bearer t2', 'Bearer t3'])
})
