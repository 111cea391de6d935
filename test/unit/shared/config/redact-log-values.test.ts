import { expect, test } from 'vitest'
import { redactValues } from '../../../../src/shared/config/redact-log-values.ts'

test('redactValues: a value or a part of it is replaced by the name of its variable (threat 28)', () => {
  const hide = redactValues({
    SERVICE_API_AUTH_TOKEN: 'first+token, second',
    SERVICE_KVSTORE_URL: 'rediss://user:pass%20word@kv.internal:6379/0',
  })

  expect(hide('Basic first+token or second')).toBe('Basic <SERVICE_API_AUTH_TOKEN> or <SERVICE_API_AUTH_TOKEN>')
  expect(hide('pass word, pass%20word, kv.internal:6379, KV.internal')).toBe(
    Array(4).fill('<SERVICE_KVSTORE_URL>').join(', '),
  )
})

test.each([
  [{ ENGINE_ADDRESS: '10.0.0.9:13999' }, 'connect ECONNREFUSED 10.0.0.9:13999'],
  [{ ENGINE_ADDRESS: 'engine.internal:7233' }, 'getaddrinfo ENOTFOUND engine.internal'],
  [{ ENGINE_ADDRESS: 'engine.internal:7233' }, "Host: engine.internal. is not in the cert's altnames"],
  [{ ENGINE_ADDRESS: '[fd00::1]:7233' }, 'dial tcp [fd00::1]:7233'],
  [{ ENGINE_HTTP_URL: 'http://10.0.0.9:7243/base' }, 'connect ECONNREFUSED 10.0.0.9:7243'],
  [
    { ENGINE_ADDRESS: '10.0.0.9:7233', SERVICE_KVSTORE_URL: 'redis://10.0.0.9:6379' },
    'connect ECONNREFUSED 10.0.0.9:7233',
  ],
  [{ ENGINE_ADDRESS: 'engine.internal:7233' }, 'connect ECONNREFUSED 10.0.0.7:7233. Resolution note: '],
  [{ ENGINE_ADDRESS: 'engine.internal:7233' }, 'dial tcp [fd00::1]:7233'],
  [{ ENGINE_HTTP_URL: 'http://engine:7243/base' }, 'connect ECONNREFUSED fd00::1:7243'],
  [{ ENGINE_NAMESPACE: 'shop' }, 'Namespace shop is not found.'],
])('redactValues: the operator sees the engine and its namespace: %o', (env, said) => {
  expect(redactValues(env)(said)).toBe(said)
})

test('redactValues: the credentials in the URL of the engine are redacted (threat 28)', () => {
  expect(redactValues({ ENGINE_HTTP_URL: 'http://user:pass+word@engine.internal:7243' })('pass+word')).toBe(
    '<ENGINE_HTTP_URL>',
  )
})

test('redactValues: the address that a name resolves to is redacted, too (threat 28)', () => {
  const hide = redactValues({})

  expect(hide('connect ECONNREFUSED 10.0.0.7:7233')).toBe('connect ECONNREFUSED <address>')
  expect(hide('getaddrinfo ENOTFOUND engine.internal')).toBe('getaddrinfo ENOTFOUND <address>')
  expect(hide('Deadline exceeded,remote_addr=10.0.0.7:7233')).toBe('Deadline exceeded,remote_addr=<address>')
  expect(hide('dial tcp [fe80::1]:7234')).toBe('dial tcp <address>')
  const shared = redactValues({ ENGINE_ADDRESS: 'engine:8000', ENGINE_CODEC_ENDPOINT: 'http://codec:8000/v1' })
  const hidden = [
    redactValues({ ENGINE_ADDRESS: 'engine:7233' })('connect ECONNREFUSED 10.0.0.7:17233'),
    redactValues({ ENGINE_ADDRESS: 'engine:443' })('connect ECONNREFUSED 10.0.0.7:443'),
    shared('connect ECONNREFUSED 10.0.0.7:8000'),
  ]
  expect(hidden).toEqual(hidden.map(() => 'connect ECONNREFUSED <address>'))
})

test('redactValues: loopback addresses are kept, unless they are the value of a variable', () => {
  const said = [
    'connect ECONNREFUSED ::1:7233',
    'connect ECONNREFUSED 127.0.0.1:7233',
    'dial tcp [::1]:7234',
    'getaddrinfo ENOTFOUND localhost',
  ]

  expect(said.map(redactValues({}))).toEqual(said)
  const shared = redactValues({ SERVICE_KVSTORE_URL: 'redis://127.0.0.1:6379', ENGINE_ADDRESS: 'localhost:7233' })
  expect(shared('connect ECONNREFUSED 127.0.0.1:7233. Resolution note: ')).toBe(
    'connect ECONNREFUSED <address> Resolution note: ',
  )
  expect(redactValues({})('connect ECONNREFUSED 127.0.0.1.example.com:1')).toBe('connect ECONNREFUSED <address>')
})

test('redactValues: a folder or URL is redacted within a longer path, which keeps the rest', () => {
  const hide = redactValues({ SERVICE_TRACE_LOCAL_DIR: '/var/traces/', SERVICE_API_AUTH_TOKEN: 'first+token==' })

  expect(hide("open '/var/traces/x.json'")).toBe("open '<SERVICE_TRACE_LOCAL_DIR>x.json'")
  expect(hide('first+token==x')).toBe('<SERVICE_API_AUTH_TOKEN>x')
})

test('redactValues: a host that is a plain word is redacted only as a host', () => {
  const hide = redactValues({ SERVICE_KVSTORE_URL: 'redis://redis:6379' })

  expect(hide('at Object.redis (redis.api.js)')).toBe('at Object.redis (redis.api.js)')
  expect(hide('dns:redis:6379, getaddrinfo EAI_AGAIN redis')).toBe(
    'dns:<SERVICE_KVSTORE_URL>, getaddrinfo EAI_AGAIN <address>',
  )
})

test('redactValues: a value inside a longer word is kept', () => {
  const hide = redactValues({ SERVICE_STORAGE_BUCKET: 'shop', SERVICE_STORAGE_REGION: '' })

  expect(hide('workshop, shops: version 1.2.3')).toBe('workshop, shops: version 1.2.3')
})

test('redactValues: the secrets of hooks, whatever their variables are called (threat 72)', () => {
  const redact = redactValues({ SERVICE_HOOK_STRIPE: 'whsec_abc', SERVICE_HOOK_: '' })

  expect(redact('key whsec_abc is wrong')).toBe('key <SERVICE_HOOK_STRIPE> is wrong')
})
