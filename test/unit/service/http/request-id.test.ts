import { expect, test } from 'vitest'
import { makeApi } from './api.ts'

test("X-Request-Id: is a new one when the client's is too long or has other characters (threat 52)", async () => {
  const { call } = makeApi()

  const long = await call('GET', '/health', undefined, { 'X-Request-Id': 'x'.repeat(129) })
  const odd = await call('GET', '/health', undefined, { 'X-Request-Id': 'a b' })

  expect(long.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
  expect(odd.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
})
