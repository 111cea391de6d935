import { expect, test } from 'vitest'
import { issuesOf, parse, required } from './parsed.ts'

const workerd = { binds: false, isolated: true }

const enough = { ...required, SERVICE_API_AUTH_TOKEN: 'token', ENGINE_HTTP_URL: 'https://engine' }

test('isolated: the transport is HTTP', () => {
  expect(parse(enough, workerd).engine).toMatchObject({ transport: 'http', httpUrl: 'https://engine' })
  expect(issuesOf({ ...enough, ENGINE_HTTP_URL: '' }, workerd)).toEqual([
    "ENGINE_TRANSPORT=http requires ENGINE_HTTP_URL, the base URL of the engine's HTTP API",
  ])
  expect(issuesOf({ ...enough, ENGINE_TRANSPORT: 'grpc' }, workerd)).toEqual([
    expect.stringMatching(/^ENGINE_TRANSPORT=grpc is not available on workerd/),
  ])
})

test('isolated: requests in flight are not limited, because they cannot be counted', () => {
  const env = { ...enough, SERVICE_MAX_INFLIGHT: '5' }

  expect(parse(env, workerd).limits.maxInFlight).toBe(Number.POSITIVE_INFINITY)
  expect(parse(env).limits.maxInFlight).toBe(5)
})

test('isolated: Redis over TCP is rejected with an alternative, and a folder for traces is rejected', () => {
  expect(issuesOf({ ...enough, SERVICE_KVSTORE_URL: 'redis://kv:6379' }, workerd)).toEqual([
    'SERVICE_KVSTORE_URL must begin with https:// on workerd (no TCP sockets); use the REST URL of an Upstash Redis',
  ])
  expect(issuesOf({ ...enough, SERVICE_KVSTORE_URL: 'rediss://kv:6379' }, workerd)).toHaveLength(1)
  expect(issuesOf({ ...enough, SERVICE_KVSTORE_URL: 'https://:token@kv.example' }, workerd)).toEqual([])
  expect(issuesOf({ ...enough, SERVICE_TRACE_LOCAL_DIR: '/traces' }, workerd)).toHaveLength(1)
})
