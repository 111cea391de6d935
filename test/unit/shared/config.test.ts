import { expect, test } from 'vitest'
import { parseConfig, type Surroundings } from '../../../src/shared/config.ts'
import { issuesOf, parse, required } from './config/parsed.ts'

test('parseConfig: requires only the catalog', () => {
  expect(parse({})).toEqual({
    engine: {
      address: '127.0.0.1:7233',
      namespace: 'default',
      namespaces: ['default'],
      apiKey: null,
      tls: null,
      transport: 'grpc',
      httpUrl: null,
      codecEndpoint: null,
      uiUrl: null,
    },
    catalog: 'orders',
    basePath: '',
    server: { host: '127.0.0.1', port: 3001, shutdownTimeoutMs: 30_000, idleTimeoutMs: null },
    access: {
      tokens: null,
      policy: null,
      audit: 'off',
      isAuditSet: false,
      hookSecrets: {},
      corsOrigins: [],
      loopbackOnly: true,
    },
    limits: {
      maxBodyBytes: 2_097_152,
      maxUnprovenBytes: 33_554_432,
      maxInFlight: 64,
      bulkConcurrency: 32,
      maxPayloadBytes: 2_080_768,
      maxRunTimeoutMs: 86_400_000,
      maxPolls: 1000,
      streamBufferBytes: 4 * 1024 * 1024,
      streamUpdates: 1500,
    },
    catalogTtlMs: 5000,
    messageTimeoutMs: 60_000,
    forwardHeaders: [],
    resultCacheBytes: 16_777_216,
    checkOutputs: false,
    docs: false,
    console: false,
    mcp: { waitMs: 25_000, maxOutputBytes: 65_536 },
    signing: { keys: null, publicUrl: null, deployment: null },
    traces: { storage: null, remote: null, local: null, maxBytes: 33_554_432 },
    metrics: null,
    logLevel: 'info',
    warnings: [],
  })
})

test('parseConfig: lists every error at once (threat 36)', () => {
  const issues = issuesOf({
    SERVICE_PORT: '99999',
    SERVICE_HOST: '0.0.0.0',
    ENGINE_ADDRESS: 'https://engine:7233',
    ENGINE_TRANSPORT: 'http',
    SERVICE_TRACE_REMOTE_ON: 'true',
  })

  expect(issues.map((issue) => issue.split(' ')[0]).sort()).toEqual([
    'ENGINE_ADDRESS',
    'ENGINE_TRANSPORT=http',
    'SERVICE_API_AUTH_TOKEN',
    'SERVICE_CATALOG_ID',
    'SERVICE_PORT',
    'SERVICE_TRACE_REMOTE_ON=true',
  ])
})

test('parseConfig: never shows a value, right or wrong (threat 95)', () => {
  const env = Object.fromEntries([...variableNames()].map((name) => [name, `\0 s3cr€t ${name.toLowerCase()}`]))

  const issues = issuesOf(env)

  expect(issues.length).toBeGreaterThan(20)
  expect(issues.join('\n')).not.toContain('s3cr€t')
})

test('parseConfig: an empty value counts as unset', () => {
  const empty = Object.fromEntries([...variableNames()].map((name) => [name, '']))

  expect(parseConfig({ ...empty, ...required }, { binds: true })).toEqual(parse({}))
})

test('parseConfig: durations are milliseconds, or have a unit', () => {
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

test.for<[sentence: string, env: Record<string, string>, issues: string[], options?: Surroundings]>([
  [
    'durations that no timer supports',
    { SERVICE_RUN_MAX_TIMEOUT: '25d', SERVICE_MESSAGE_TIMEOUT: '0', SERVICE_CATALOG_TTL: '5 minutes' },
    [
      'SERVICE_RUN_MAX_TIMEOUT must be from 1 ms to 2147483647 ms (24 days)',
      'SERVICE_CATALOG_TTL must be a number of milliseconds or a duration with a unit, like 30s or 5m',
      'SERVICE_MESSAGE_TIMEOUT must be from 1 ms to 2147483647 ms (24 days)',
    ],
  ],
  [
    'sizes that are not positive integers',
    { SERVICE_MAX_BODY_BYTES: '2MB', SERVICE_MAX_PAYLOAD_BYTES: '0', SERVICE_TRACE_MAX_BYTES: '1.5' },
    ['SERVICE_MAX_BODY_BYTES', 'SERVICE_MAX_PAYLOAD_BYTES', 'SERVICE_TRACE_MAX_BYTES'].map(
      (name) => `${name} must be an integer of at least 1`,
    ),
  ],
  [
    'a catalog that the engine reserves',
    { SERVICE_CATALOG_ID: '__temporal_x' },
    ['SERVICE_CATALOG_ID must not start with "__temporal_", which is reserved'],
  ],
  [
    'a flag that is neither true nor false',
    { SERVICE_TRACE_LOCAL_ON: 'perhaps' },
    ['SERVICE_TRACE_LOCAL_ON must be true or false'],
  ],
  [
    'a list without a token, instead of allowing anonymous access',
    { SERVICE_API_AUTH_TOKEN: ' , ' },
    ['SERVICE_API_AUTH_TOKEN must contain at least one token'],
  ],
  [
    'an address that is not loopback without a token',
    { SERVICE_HOST: '0.0.0.0' },
    [
      'SERVICE_API_AUTH_TOKEN or SERVICE_POLICY is required when the server is not bound to loopback; set SERVICE_ALLOW_ANONYMOUS=true to allow unauthenticated access',
    ],
  ],
  [
    'a loopback address without a token if the service does not bind its own socket',
    { SERVICE_HOST: '127.0.0.1' },
    [
      'SERVICE_API_AUTH_TOKEN or SERVICE_POLICY is required when the service does not bind its own socket; set SERVICE_ALLOW_ANONYMOUS=true to allow unauthenticated access',
    ],
    { binds: false },
  ],
  [
    'a client certificate without its key',
    { ENGINE_TLS_CERT: '/cert.pem' },
    ['ENGINE_TLS_CERT and ENGINE_TLS_KEY must be set together'],
  ],
  [
    'the HTTP transport without its URL',
    { ENGINE_TRANSPORT: 'http' },
    ["ENGINE_TRANSPORT=http requires ENGINE_HTTP_URL, the base URL of the engine's HTTP API"],
  ],
])('parseConfig: rejects %s', ([, env, issues, options]) => {
  expect(issuesOf({ ...required, ...env }, options)).toEqual(issues)
})

test.for<[sentence: string, env: Record<string, string>, config: object]>([
  [
    'with a token the server listens on all addresses',
    { SERVICE_API_AUTH_TOKEN: 's3cret' },
    { server: { host: '0.0.0.0' }, access: { tokens: ['s3cret'] } },
  ],
  [
    'tokens are a list without its empty entries',
    { SERVICE_API_AUTH_TOKEN: 'new, ,old,' },
    { access: { tokens: ['new', 'old'] } },
  ],
  [
    'SERVICE_ALLOW_ANONYMOUS=true allows unauthenticated access from anywhere',
    { SERVICE_HOST: '0.0.0.0', SERVICE_ALLOW_ANONYMOUS: 'true' },
    { server: { host: '0.0.0.0' }, access: { tokens: null, loopbackOnly: false } },
  ],
  [
    'a token is required even if SERVICE_ALLOW_ANONYMOUS=true',
    { SERVICE_API_AUTH_TOKEN: 's3cret', SERVICE_ALLOW_ANONYMOUS: 'true' },
    { access: { tokens: ['s3cret'] } },
  ],
  [
    'an API key is sent unencrypted only with ENGINE_TLS=false',
    { ENGINE_API_KEY: 'key', ENGINE_TLS: 'false' },
    { engine: { tls: null } },
  ],
  ['a certificate file implies TLS', { ENGINE_TLS_CA: '/ca.pem' }, { engine: { tls: { caPath: '/ca.pem' } } }],
  ['the address of the engine may be IPv6', { ENGINE_ADDRESS: '[::1]:7233' }, { engine: { address: '[::1]:7233' } }],
])('parseConfig: %s', ([, env, config]) => {
  expect(parse(env)).toMatchObject(config)
})

test('parseConfig: the memory for results may be 0', () => {
  expect([parse({}).resultCacheBytes, parse({ SERVICE_RESULT_CACHE_BYTES: '0' }).resultCacheBytes]).toEqual([
    16 * 1024 * 1024,
    0,
  ])
  expect(issuesOf({ ...required, SERVICE_RESULT_CACHE_BYTES: '-1' })).toEqual([
    'SERVICE_RESULT_CACHE_BYTES must be an integer of at least 0',
  ])
})

test('parseConfig: accepts origins only in the form that browsers send (threat 60)', () => {
  const ofApps = ['capacitor://localhost', 'tauri://localhost', 'chrome-extension://abcdefghijklmnop', '*']
  expect(parse({ SERVICE_CORS_ORIGINS: ofApps.join() }).access.corsOrigins).toEqual(ofApps)
  for (const wrong of ['capacitor://localhost/', 'capacitor:localhost', 'file:///tmp/a.html', 'null', 'localhost'])
    expect(issuesOf({ ...required, SERVICE_CORS_ORIGINS: wrong })[0]).toMatch(/^SERVICE_CORS_ORIGINS must be/)
  expect(parse({ SERVICE_CORS_ORIGINS: 'https://a.example, http://localhost:5173' }).access.corsOrigins).toEqual([
    'https://a.example',
    'http://localhost:5173',
  ])
  expect(parse({ SERVICE_FORWARD_HEADERS: 'X-Tenant, x-User' }).forwardHeaders).toEqual(['x-tenant', 'x-user'])
  expect(issuesOf({ ...required, SERVICE_FORWARD_HEADERS: 'Authorization' })[0]).toMatch(
    /must not contain authorization/,
  )
  expect(issuesOf({ ...required, SERVICE_FORWARD_HEADERS: 'a b' })[0]).toMatch(/list of header names/)
  expect(issuesOf({ ...required, SERVICE_CORS_ORIGINS: 'https://a.example/' })[0]).toMatch(
    /^SERVICE_CORS_ORIGINS must be/,
  )
})

test('parseConfig: a host name that begins like a loopback address is not one (threat 43)', () => {
  expect(issuesOf({ ...required, SERVICE_HOST: '127.0.0.1.example.com' })).toHaveLength(1)
})

test('parseConfig: no token is required on any loopback address', () => {
  expect(
    ['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]'].map((host) => parse({ SERVICE_HOST: host }).access.tokens),
  ).toEqual(Array(5).fill(null))
})

test('parseConfig: loopbackOnly is set only without a token and without SERVICE_ALLOW_ANONYMOUS (threat 43)', () => {
  expect(parse({}).access.loopbackOnly).toBe(true)
  expect(parse({ SERVICE_API_AUTH_TOKEN: 's3cret', SERVICE_HOST: '127.0.0.1' }).access.loopbackOnly).toBe(false)
  expect(parse({ SERVICE_ALLOW_ANONYMOUS: 'true' }).access.loopbackOnly).toBe(false)
})

test('SERVICE_BASE_PATH: a path, without its trailing slash', () => {
  expect(parse({}).basePath).toBe('')
  expect(parse({ SERVICE_BASE_PATH: '/apis/portico-1' }).basePath).toBe('/apis/portico-1')
  expect(parse({ SERVICE_BASE_PATH: '/portico/' }).basePath).toBe('/portico')
  expect(parse({ SERVICE_BASE_PATH: '/' }).basePath).toBe('')
})

test.each(['portico', '//', '/a//b', '/a/../b', '/.', '/a b', '/a%20b', '/a?b', '/a#b', 'http://host/a'])(
  'SERVICE_BASE_PATH: %s is rejected',
  (path) => {
    expect(issuesOf({ ...required, SERVICE_BASE_PATH: path })).toEqual([
      expect.stringMatching(/^SERVICE_BASE_PATH must be a path like/),
    ])
  },
)

/** Every variable that parseConfig reads. */
function variableNames(): Set<string> {
  const names = new Set<string>()
  const env = new Proxy<Record<string, string>>({}, { get: (_, name) => void names.add(String(name)) })
  issuesOf(env)
  return names
}
