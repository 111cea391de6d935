import { expect, test } from 'vitest'
import { issuesOf, parse, required } from './parsed.ts'

const credentials = {
  SERVICE_STORAGE_ACCESS_KEY_ID: 'id',
  SERVICE_STORAGE_SECRET_ACCESS_KEY: 'key',
  SERVICE_STORAGE_REGION: 'eu-central-1',
}

test('parseConfig: the variables of the specification suffice for remote traces', () => {
  expect(
    parse({ SERVICE_TRACE_REMOTE_ON: 'true', SERVICE_KVSTORE_URL: 'redis://kv:6379', ...credentials }).traces.remote,
  ).toEqual({
    storage: { accessKeyId: 'id', secretAccessKey: 'key', region: 'eu-central-1', bucket: null, endpoint: null },
    kvstore: { url: 'redis://kv:6379', token: null },
  })
})

test('parseConfig: stored traces can be read with the credentials alone, even if remote tracing is off', () => {
  const { storage, remote } = parse(credentials).traces

  expect(storage).toMatchObject({ region: 'eu-central-1', bucket: null, endpoint: null })
  expect(remote).toBeNull()
  expect(parse({ SERVICE_STORAGE_REGION: 'eu-central-1' }).traces.storage).toBeNull()
})

test('parseConfig: remote traces require credentials, and the error names the missing ones', () => {
  expect(issuesOf({ ...required, SERVICE_TRACE_REMOTE_ON: 'true', SERVICE_STORAGE_REGION: 'eu-central-1' })).toEqual([
    'SERVICE_TRACE_REMOTE_ON=true requires SERVICE_STORAGE_ACCESS_KEY_ID, SERVICE_STORAGE_SECRET_ACCESS_KEY',
  ])
})

test('parseConfig: a region must be one word, because it becomes part of a host name (threat 85)', () => {
  expect(issuesOf({ ...required, SERVICE_STORAGE_REGION: 'evil.example/' })).toEqual([
    'SERVICE_STORAGE_REGION must be a region like eu-central-1',
  ])
})

test('parseConfig: a custom endpoint requires a bucket', () => {
  expect(issuesOf({ ...required, SERVICE_STORAGE_ENDPOINT: 'http://127.0.0.1:9000' })).toEqual([
    'SERVICE_STORAGE_ENDPOINT requires SERVICE_STORAGE_BUCKET',
  ])
})

test('parseConfig: a key-value store over https requires a token', () => {
  expect(issuesOf({ ...required, SERVICE_KVSTORE_URL: 'https://kv.example' })).toHaveLength(1)
  expect(issuesOf({ ...required, SERVICE_KVSTORE_URL: 'https://:token@kv.example' })).toEqual([])
})

test('parseConfig: a token is not sent over plain http to another machine (threat 87)', () => {
  expect(
    issuesOf({ ...required, SERVICE_KVSTORE_URL: 'http://kv.example', SERVICE_KVSTORE_TOKEN: 'token' }),
  ).toHaveLength(1)
})

test('parseConfig: local traces require a folder', () => {
  expect(issuesOf({ ...required, SERVICE_TRACE_LOCAL_ON: 'true' })).toEqual([
    'SERVICE_TRACE_LOCAL_ON=true requires SERVICE_TRACE_LOCAL_DIR',
  ])
})
