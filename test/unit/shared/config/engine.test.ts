import { expect, test } from 'vitest'
import { issuesOf, parse, required } from './parsed.ts'

test('parseConfig: an API key implies TLS', () => {
  const found = parse({ ENGINE_API_KEY: 'key' }).engine.tls
  expect(found).toEqual({ caPath: null, certPath: null, keyPath: null, serverName: null })
})

test('parseConfig: certificates contradict ENGINE_TLS=false (threat 76)', () => {
  expect(issuesOf({ ...required, ENGINE_TLS: 'false', ENGINE_TLS_CA: '/ca.pem' })).toHaveLength(1)
})

test.each(['ENGINE_HTTP_URL', 'ENGINE_CODEC_ENDPOINT', 'ENGINE_UI_URL'])('parseConfig: %s is a base URL', (name) => {
  for (const value of ['http://user:pw@host', 'http://host?a=b', 'http://host/#a', 'host:80', 'ftp://host'])
    expect([value, issuesOf({ ...required, [name]: value })]).toEqual([
      value,
      [expect.stringMatching(`^${name} must be a URL`)],
    ])
  for (const value of ['http://host', 'https://host/', 'https://host:8080/base/'])
    expect([value, issuesOf({ ...required, [name]: value })]).toEqual([value, []])
})

test('ENGINE_NAMESPACES: has the namespace of paths without one first, and each only once', () => {
  expect(parse({}).engine.namespaces).toEqual(['default'])
  expect(parse({ ENGINE_NAMESPACES: 'acme, default,,acme' }).engine.namespaces).toEqual(['default', 'acme'])
  expect(parse({ ENGINE_NAMESPACE: 'own', ENGINE_NAMESPACES: 'acme' }).engine.namespaces).toEqual(['own', 'acme'])
})

test('ENGINE_NAMESPACES: each name is valid for the transport and as a segment of a URL, and there are at most 100', () => {
  const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `tenant-${index}`).join(',')
  const issues = (names: string, env = required) => issuesOf({ ...env, ENGINE_NAMESPACES: names })

  expect(issues('acme,münchen')).toEqual([
    'ENGINE_NAMESPACES must be printable ASCII, because gRPC sends it in a header',
  ])
  for (const name of ['.', '..'])
    expect(issues(`acme,${name}`)).toEqual([
      'ENGINE_NAMESPACES must not contain "." and "..": a URL cannot have such a segment',
    ])
  expect(issues('acme/eu')).toEqual([])
  expect(issues('acme/eu', http)).toEqual([expect.stringMatching(/^ENGINE_NAMESPACES must not contain a slash/)])
  expect(issues(namesOf(100))).toEqual([])
  expect(issues(namesOf(101))).toEqual(['ENGINE_NAMESPACES must contain at most 100 namespaces'])
})

test('parseConfig: over gRPC the namespace must be printable ASCII', () => {
  expect(issuesOf({ ...required, ENGINE_NAMESPACE: 'münchen' })).toEqual([
    'ENGINE_NAMESPACE must be printable ASCII, because gRPC sends it in a header',
  ])
  expect(issuesOf({ ...required, ENGINE_NAMESPACE: 'shop\n' })).toHaveLength(1)
  expect(parse({ ENGINE_NAMESPACE: 'a b/c.~d' }).engine.namespace).toBe('a b/c.~d')
})

const http = { ...required, ENGINE_TRANSPORT: 'http', ENGINE_HTTP_URL: 'http://engine:8080' }

test('ENGINE_API_KEY: is sent unencrypted only with ENGINE_TLS=false (threats 36, 76)', () => {
  expect(issuesOf({ ...http, ENGINE_API_KEY: 'key' })).toEqual([
    expect.stringMatching(/^ENGINE_HTTP_URL must begin with https:\/\//),
  ])
  expect(issuesOf({ ...http, ENGINE_API_KEY: 'key', ENGINE_TLS: 'false' })).toEqual([])
  expect(issuesOf({ ...http, ENGINE_API_KEY: 'key', ENGINE_HTTP_URL: 'https://engine' })).toEqual([])
  expect(issuesOf({ ...http, ENGINE_TLS: 'true' })).toHaveLength(1)
})

test.each(['ENGINE_NAMESPACE', 'SERVICE_CATALOG_ID'])(
  '%s: must be one path segment, and is reported together with other errors',
  (name) => {
    for (const value of ['a/b', '.', '..'])
      expect([value, issuesOf({ ...http, [name]: value, SERVICE_PORT: 'x' })]).toEqual([
        value,
        expect.arrayContaining([
          expect.stringMatching(`^${name} must not contain a slash`),
          expect.stringMatching(/^SERVICE_PORT must be/),
        ]),
      ])
    for (const value of ['münchen', 'a b', 'a.b', '...', 'a%2Fb'])
      expect([value, issuesOf({ ...http, [name]: value })]).toEqual([value, []])
  },
)

test('SERVICE_CATALOG_ID: may contain a slash over gRPC', () => {
  expect(parse({ SERVICE_CATALOG_ID: 'a/b' }).catalog).toBe('a/b')
})

test('ENGINE_TLS_…: certificate files are rejected, because fetch cannot use them', () => {
  expect(issuesOf({ ...http, ENGINE_HTTP_URL: 'https://engine', ENGINE_TLS_CA: '/ca.pem' })).toEqual([
    expect.stringMatching(/^ENGINE_TRANSPORT=http does not support ENGINE_TLS_CA/),
  ])
})
