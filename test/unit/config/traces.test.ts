import { describe, expect, test } from 'vitest'
import { faultsOf, least, parse } from './parsed.ts'

describe('parseConfig, traces', () => {
  const credentials = {
    SERVICE_STORAGE_ACCESS_KEY_ID: 'id',
    SERVICE_STORAGE_SECRET_ACCESS_KEY: 'key',
    SERVICE_STORAGE_REGION: 'eu-central-1',
  }

  test("parseConfig: the specification's variables are enough for remote traces", () => {
    expect(
      parse({ SERVICE_TRACE_REMOTE_ON: 'true', SERVICE_KVSTORE_URL: 'redis://kv:6379', ...credentials }).traces.remote,
    ).toEqual({
      storage: { accessKeyId: 'id', secretAccessKey: 'key', region: 'eu-central-1', bucket: null, endpoint: null },
      kvstore: { url: 'redis://kv:6379', token: null },
    })
  })

  test('parseConfig: stored traces can be read wherever the credentials are, remote tracing on or off', () => {
    const { storage, remote } = parse(credentials).traces

    expect(storage).toMatchObject({ region: 'eu-central-1', bucket: null, endpoint: null })
    expect(remote).toBeNull()
    expect(parse({ SERVICE_STORAGE_REGION: 'eu-central-1' }).traces.storage).toBeNull()
  })

  test('parseConfig: remote traces need credentials, and the fault names those that miss', () => {
    expect(faultsOf({ ...least, SERVICE_TRACE_REMOTE_ON: 'true', SERVICE_STORAGE_REGION: 'eu-central-1' })).toEqual([
      'SERVICE_TRACE_REMOTE_ON=true needs SERVICE_STORAGE_ACCESS_KEY_ID, SERVICE_STORAGE_SECRET_ACCESS_KEY',
    ])
  })

  test('parseConfig: a region can only be a word, for it becomes part of a host name', () => {
    expect(faultsOf({ ...least, SERVICE_STORAGE_REGION: 'evil.example/' })).toEqual([
      'SERVICE_STORAGE_REGION must be a region like eu-central-1',
    ])
  })

  test('parseConfig: an endpoint of one’s own needs a bucket', () => {
    expect(faultsOf({ ...least, SERVICE_STORAGE_ENDPOINT: 'http://127.0.0.1:9000' })).toEqual([
      'SERVICE_STORAGE_ENDPOINT needs SERVICE_STORAGE_BUCKET',
    ])
  })

  test('parseConfig: a key-value store over https needs a token', () => {
    expect(faultsOf({ ...least, SERVICE_KVSTORE_URL: 'https://kv.example' })).toHaveLength(1)
    expect(faultsOf({ ...least, SERVICE_KVSTORE_URL: 'https://:token@kv.example' })).toEqual([])
  })

  test('parseConfig: sends no token over plain http to another machine', () => {
    expect(
      faultsOf({ ...least, SERVICE_KVSTORE_URL: 'http://kv.example', SERVICE_KVSTORE_TOKEN: 'token' }),
    ).toHaveLength(1)
  })

  test('parseConfig: local traces are written only to a folder that is named', () => {
    expect(faultsOf({ ...least, SERVICE_TRACE_LOCAL_ON: 'true' })).toEqual([
      'SERVICE_TRACE_LOCAL_ON=true needs SERVICE_TRACE_LOCAL_DIR',
    ])
  })
})
