import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { faultsOf, least, parse } from './config/parsed.ts'

describe('parseConfig', () => {
  test('parseConfig: needs nothing but the catalog', () => {
    expect(parse({})).toEqual({
      engine: {
        address: '127.0.0.1:7233',
        namespace: 'default',
        apiKey: null,
        tls: null,
        transport: 'grpc',
        httpUrl: null,
        codecEndpoint: null,
      },
      catalog: 'orders',
      basePath: '',
      server: { host: '127.0.0.1', port: 3001, shutdownTimeoutMs: 30_000 },
      access: { tokens: null, corsOrigins: [], loopbackOnly: true },
      limits: { maxBodyBytes: 2_097_152, maxPayloadBytes: 2_080_768, maxRunTimeoutMs: 86_400_000 },
      catalogTtlMs: 5000,
      messageTimeoutMs: 60_000,
      traces: { storage: null, remote: null, local: null, maxBytes: 33_554_432 },
      logLevel: 'info',
      warnings: [],
    })
  })

  test('parseConfig: lists every fault at once', () => {
    const faults = faultsOf({
      SERVICE_PORT: '99999',
      SERVICE_HOST: '0.0.0.0',
      ENGINE_ADDRESS: 'https://engine:7233',
      ENGINE_TRANSPORT: 'http',
      SERVICE_TRACE_REMOTE_ON: 'true',
    })

    expect(faults.map((fault) => fault.split(' ')[0]).sort()).toEqual([
      'ENGINE_ADDRESS',
      'ENGINE_TRANSPORT=http',
      'SERVICE_API_AUTH_TOKEN',
      'SERVICE_CATALOG_ID',
      'SERVICE_PORT',
      'SERVICE_TRACE_REMOTE_ON=true',
    ])
  })

  test('ConfigError: its message holds each fault on its own line', () => {
    expect(() => parseConfig({ SERVICE_PORT: 'x' }, { binds: true })).toThrow(
      /^The configuration has 2 faults:\n {2}SERVICE_.+\n {2}SERVICE_.+$/,
    )
  })

  test('parseConfig: never shows a value, right or wrong', () => {
    const env = Object.fromEntries([...variableNames()].map((name) => [name, `\0 s3cr€t ${name.toLowerCase()}`]))

    const faults = faultsOf(env)

    expect(faults.length).toBeGreaterThan(20)
    expect(faults.join('\n')).not.toContain('s3cr€t')
  })

  test('parseConfig: takes an empty value as unset', () => {
    const empty = Object.fromEntries([...variableNames()].map((name) => [name, '']))

    expect(parseConfig({ ...empty, ...least }, { binds: true })).toEqual(parse({}))
  })

  test('parseConfig: reads durations in milliseconds or with a unit', () => {
    const { catalogTtlMs, messageTimeoutMs, limits, server } = parse({
      SERVICE_CATALOG_TTL: '0',
      SERVICE_MESSAGE_TIMEOUT: '1500',
      SERVICE_RUN_MAX_TIMEOUT: '2h',
      SERVICE_SHUTDOWN_TIMEOUT: '1.5s',
    })

    expect([catalogTtlMs, messageTimeoutMs, limits.maxRunTimeoutMs, server.shutdownTimeoutMs]).toEqual([
      0, 1500, 7_200_000, 1500,
    ])
  })

  test('parseConfig: refuses durations that no timer can hold', () => {
    expect(
      faultsOf({
        ...least,
        SERVICE_RUN_MAX_TIMEOUT: '25d',
        SERVICE_MESSAGE_TIMEOUT: '0',
        SERVICE_CATALOG_TTL: '5 minutes',
      }),
    ).toEqual([
      'SERVICE_RUN_MAX_TIMEOUT must be from 1 ms to 2147483647 ms (24 days)',
      'SERVICE_CATALOG_TTL must be a number of milliseconds or a duration with its unit, like 30s or 5m',
      'SERVICE_MESSAGE_TIMEOUT must be from 1 ms to 2147483647 ms (24 days)',
    ])
  })

  test('parseConfig: refuses bytes that are no positive integer', () => {
    expect(
      faultsOf({
        ...least,
        SERVICE_MAX_BODY_BYTES: '2MB',
        SERVICE_MAX_PAYLOAD_BYTES: '0',
        SERVICE_TRACE_MAX_BYTES: '1.5',
      }),
    ).toEqual([
      'SERVICE_MAX_BODY_BYTES must be an integer of at least 1',
      'SERVICE_MAX_PAYLOAD_BYTES must be an integer of at least 1',
      'SERVICE_TRACE_MAX_BYTES must be an integer of at least 1',
    ])
  })

  test('parseConfig: refuses a catalog that the engine keeps for itself', () => {
    expect(faultsOf({ SERVICE_CATALOG_ID: '__temporal_x' })).toEqual([
      'SERVICE_CATALOG_ID must not begin with "__temporal_", which is reserved',
    ])
  })

  test('parseConfig: refuses what is neither true nor false', () => {
    expect(faultsOf({ ...least, SERVICE_TRACE_LOCAL_ON: 'perhaps' })).toEqual([
      'SERVICE_TRACE_LOCAL_ON must be true or false',
    ])
  })

  test('parseConfig: takes origins only as browsers send them', () => {
    expect(parse({ SERVICE_CORS_ORIGINS: 'https://a.example, http://localhost:5173' }).access.corsOrigins).toEqual([
      'https://a.example',
      'http://localhost:5173',
    ])
    expect(faultsOf({ ...least, SERVICE_CORS_ORIGINS: 'https://a.example/' })[0]).toMatch(
      /^SERVICE_CORS_ORIGINS must be/,
    )
  })
})

describe('parseConfig, who may call', () => {
  test('parseConfig: listens everywhere once there is a token', () => {
    expect(parse({ SERVICE_API_AUTH_TOKEN: 's3cret' })).toMatchObject({
      server: { host: '0.0.0.0' },
      access: { tokens: ['s3cret'] },
    })
  })

  test('parseConfig: takes a list of tokens and drops its empty entries', () => {
    expect(parse({ SERVICE_API_AUTH_TOKEN: 'new, ,old,' }).access.tokens).toEqual(['new', 'old'])
  })

  test('parseConfig: refuses a list that holds no token, rather than to stand open', () => {
    expect(faultsOf({ ...least, SERVICE_API_AUTH_TOKEN: ' , ' })).toEqual(['SERVICE_API_AUTH_TOKEN holds no token'])
  })

  test('parseConfig: refuses to be reached from outside without a token', () => {
    expect(faultsOf({ ...least, SERVICE_HOST: '0.0.0.0' })).toEqual([
      'SERVICE_API_AUTH_TOKEN is required because SERVICE_HOST is not a loopback address; SERVICE_ALLOW_ANONYMOUS=true lets everybody call',
    ])
  })

  test('parseConfig: takes no host name for a loopback address because it begins like one', () => {
    expect(faultsOf({ ...least, SERVICE_HOST: '127.0.0.1.example.com' })).toHaveLength(1)
  })

  test('parseConfig: stays open on each loopback address', () => {
    expect(
      ['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]'].map(
        (host) => parse({ SERVICE_HOST: host }).access.tokens,
      ),
    ).toEqual(Array(5).fill(null))
  })

  test('parseConfig: does not count loopback for those who do not open the socket', () => {
    expect(faultsOf({ ...least, SERVICE_HOST: '127.0.0.1' }, { binds: false })).toEqual([
      'SERVICE_API_AUTH_TOKEN is required because this entry cannot tell who reaches it; SERVICE_ALLOW_ANONYMOUS=true lets everybody call',
    ])
  })

  test('parseConfig: stands open to all when that is said aloud', () => {
    expect(parse({ SERVICE_HOST: '0.0.0.0', SERVICE_ALLOW_ANONYMOUS: 'true' })).toMatchObject({
      server: { host: '0.0.0.0' },
      access: { tokens: null, loopbackOnly: false },
    })
  })

  test('parseConfig: only this machine may be named where nobody needs a token', () => {
    expect(parse({}).access.loopbackOnly).toBe(true)
    expect(parse({ SERVICE_API_AUTH_TOKEN: 's3cret', SERVICE_HOST: '127.0.0.1' }).access.loopbackOnly).toBe(false)
    expect(parse({ SERVICE_ALLOW_ANONYMOUS: 'true' }).access.loopbackOnly).toBe(false)
  })

  test('parseConfig: never ignores a token, not even where anonymous calls are allowed', () => {
    expect(parse({ SERVICE_API_AUTH_TOKEN: 's3cret', SERVICE_ALLOW_ANONYMOUS: 'true' }).access.tokens).toEqual([
      's3cret',
    ])
  })
})

describe('parseConfig, the base path', () => {
  test('SERVICE_BASE_PATH: is a path without a slash at its end', () => {
    expect(parse({}).basePath).toBe('')
    expect(parse({ SERVICE_BASE_PATH: '/apis/portico-1' }).basePath).toBe('/apis/portico-1')
    expect(parse({ SERVICE_BASE_PATH: '/portico/' }).basePath).toBe('/portico')
    expect(parse({ SERVICE_BASE_PATH: '/' }).basePath).toBe('')
  })

  test.each(['portico', '//', '/a//b', '/a/../b', '/.', '/a b', '/a%20b', '/a?b', '/a#b', 'http://host/a'])(
    'SERVICE_BASE_PATH: %s is refused',
    (path) => {
      expect(faultsOf({ ...least, SERVICE_BASE_PATH: path })).toEqual([
        expect.stringMatching(/^SERVICE_BASE_PATH must be a path like/),
      ])
    },
  )
})

describe('parseConfig, the engine', () => {
  test('parseConfig: an API key implies TLS', () => {
    expect(parse({ ENGINE_API_KEY: 'key' }).engine.tls).toEqual({
      caPath: null,
      certPath: null,
      keyPath: null,
      serverName: null,
    })
  })

  test('parseConfig: a key travels in plain text only when TLS is switched off by name', () => {
    expect(parse({ ENGINE_API_KEY: 'key', ENGINE_TLS: 'false' }).engine.tls).toBeNull()
  })

  test('parseConfig: a file of certificates implies TLS', () => {
    expect(parse({ ENGINE_TLS_CA: '/ca.pem' }).engine.tls).toMatchObject({ caPath: '/ca.pem' })
  })

  test('parseConfig: a client certificate needs its key', () => {
    expect(faultsOf({ ...least, ENGINE_TLS_CERT: '/cert.pem' })).toEqual([
      'ENGINE_TLS_CERT and ENGINE_TLS_KEY are needed together',
    ])
  })

  test('parseConfig: certificates contradict ENGINE_TLS=false', () => {
    expect(faultsOf({ ...least, ENGINE_TLS: 'false', ENGINE_TLS_CA: '/ca.pem' })).toHaveLength(1)
  })

  test('parseConfig: takes an IPv6 address of the engine', () => {
    expect(parse({ ENGINE_ADDRESS: '[::1]:7233' }).engine.address).toBe('[::1]:7233')
  })

  test.each(['ENGINE_HTTP_URL', 'ENGINE_CODEC_ENDPOINT'])('parseConfig: %s is a base URL', (name) => {
    for (const value of ['http://user:pw@host', 'http://host?a=b', 'http://host/#a', 'host:80', 'ftp://host'])
      expect([value, faultsOf({ ...least, [name]: value })]).toEqual([
        value,
        [expect.stringMatching(`^${name} must be a URL`)],
      ])
    for (const value of ['http://host', 'https://host/', 'https://host:8080/base/'])
      expect([value, faultsOf({ ...least, [name]: value })]).toEqual([value, []])
  })

  test('parseConfig: gRPC carries a namespace of printable ASCII alone', () => {
    expect(faultsOf({ ...least, ENGINE_NAMESPACE: 'münchen' })).toEqual([
      'ENGINE_NAMESPACE must be printable ASCII, because gRPC sends it in a header',
    ])
    expect(faultsOf({ ...least, ENGINE_NAMESPACE: 'shop\n' })).toHaveLength(1)
    expect(parse({ ENGINE_NAMESPACE: 'a b/c.~d' }).engine.namespace).toBe('a b/c.~d')
  })

  test('parseConfig: the HTTP transport needs its URL', () => {
    expect(faultsOf({ ...least, ENGINE_TRANSPORT: 'http' })).toEqual([
      "ENGINE_TRANSPORT=http needs ENGINE_HTTP_URL, the base URL of the engine's HTTP API",
    ])
  })
})

/** Every variable that parseConfig looks at. */
function variableNames(): Set<string> {
  const names = new Set<string>()
  const env = new Proxy<Record<string, string>>({}, { get: (_, name) => void names.add(String(name)) })
  faultsOf(env)
  return names
}

describe('parseConfig over HTTP', () => {
  const http = { ...least, ENGINE_TRANSPORT: 'http', ENGINE_HTTP_URL: 'http://engine:8080' }

  test('ENGINE_API_KEY: travels in plain text only where that is said', () => {
    expect(faultsOf({ ...http, ENGINE_API_KEY: 'key' })).toEqual([
      expect.stringMatching(/^ENGINE_HTTP_URL must begin with https:\/\//),
    ])
    expect(faultsOf({ ...http, ENGINE_API_KEY: 'key', ENGINE_TLS: 'false' })).toEqual([])
    expect(faultsOf({ ...http, ENGINE_API_KEY: 'key', ENGINE_HTTP_URL: 'https://engine' })).toEqual([])
    expect(faultsOf({ ...http, ENGINE_TLS: 'true' })).toHaveLength(1)
  })

  test.each(['ENGINE_NAMESPACE', 'SERVICE_CATALOG_ID'])(
    '%s: has to be one part of a path, and is refused together with other faults',
    (name) => {
      for (const value of ['a/b', '.', '..'])
        expect([value, faultsOf({ ...http, [name]: value, SERVICE_PORT: 'x' })]).toEqual([
          value,
          expect.arrayContaining([
            expect.stringMatching(`^${name} must not contain a slash`),
            expect.stringMatching(/^SERVICE_PORT must be/),
          ]),
        ])
      for (const value of ['münchen', 'a b', 'a.b', '...', 'a%2Fb'])
        expect([value, faultsOf({ ...http, [name]: value })]).toEqual([value, []])
    },
  )

  test('SERVICE_CATALOG_ID: may have a slash over gRPC', () => {
    expect(parse({ SERVICE_CATALOG_ID: 'a/b' }).catalog).toBe('a/b')
  })

  test('ENGINE_TLS_…: certificates are not for fetch', () => {
    expect(faultsOf({ ...http, ENGINE_HTTP_URL: 'https://engine', ENGINE_TLS_CA: '/ca.pem' })).toEqual([
      expect.stringMatching(/^ENGINE_TRANSPORT=http takes no ENGINE_TLS_CA/),
    ])
  })
})

describe('parseConfig where there are neither sockets nor files', () => {
  const workerd = { binds: false, isolated: true }
  const enough = { ...least, SERVICE_API_AUTH_TOKEN: 'token', ENGINE_HTTP_URL: 'https://engine' }

  test('isolated: the engine is reached over HTTP', () => {
    expect(parse(enough, workerd).engine).toMatchObject({ transport: 'http', httpUrl: 'https://engine' })
    expect(faultsOf({ ...enough, ENGINE_HTTP_URL: '' }, workerd)).toEqual([
      "ENGINE_TRANSPORT=http needs ENGINE_HTTP_URL, the base URL of the engine's HTTP API",
    ])
    expect(faultsOf({ ...enough, ENGINE_TRANSPORT: 'grpc' }, workerd)).toEqual([
      expect.stringMatching(/^ENGINE_TRANSPORT=grpc is not supported/),
    ])
  })

  test('isolated: a loopback address says nothing about who calls', () => {
    expect(faultsOf({ ...enough, SERVICE_API_AUTH_TOKEN: '', SERVICE_HOST: '127.0.0.1' }, workerd)).toEqual([
      expect.stringMatching(/^SERVICE_API_AUTH_TOKEN is required because this entry cannot tell/),
    ])
  })

  test('isolated: Redis over TCP is refused with what to use instead, a folder for traces is refused', () => {
    expect(faultsOf({ ...enough, SERVICE_KVSTORE_URL: 'redis://kv:6379' }, workerd)).toEqual([
      'SERVICE_KVSTORE_URL must begin with https:// on this runtime, which has no sockets: use the REST URL of an Upstash Redis',
    ])
    expect(faultsOf({ ...enough, SERVICE_KVSTORE_URL: 'rediss://kv:6379' }, workerd)).toHaveLength(1)
    expect(faultsOf({ ...enough, SERVICE_KVSTORE_URL: 'https://:token@kv.example' }, workerd)).toEqual([])
    expect(faultsOf({ ...enough, SERVICE_TRACE_LOCAL_DIR: '/traces' }, workerd)).toHaveLength(1)
  })
})
