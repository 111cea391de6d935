import { expect, test } from 'vitest'
import { makeApi, rejection } from '../api.ts'

const foreign = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }
const workflows = { terminate: async () => ({ workflowId: 'w', runId: 'r' }), ready: async () => 'reachable' as const }

test('cross-site: the error names the origin and the variable that allows it', async () => {
  const rejected = await makeApi({ workflows }).call('POST', '/workflow/w/terminate', undefined, foreign)

  expect((await rejected.json()).message).toMatch(/https:\/\/evil\.example .* SERVICE_CORS_ORIGINS/)
})

test('cross-site: origins that CORS allows are accepted', async () => {
  const { call } = makeApi({ workflows, corsOrigins: ['https://evil.example'] })

  expect((await call('POST', '/workflow/w/terminate', undefined, foreign)).status).toBe(200)
})

test('cross-site: same-origin pages, reads and non-browser clients are accepted', async () => {
  const { call } = makeApi({ workflows })

  expect((await call('POST', '/workflow/w/terminate', undefined, { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200)
  expect((await call('POST', '/workflow/w/terminate')).status).toBe(200)
  expect((await call('GET', '/ready', undefined, foreign)).status).toBe(200)
})

test('cross-site: without Sec-Fetch-Site, the origin must be the host of the request (threat 59)', async () => {
  const { call } = makeApi({ workflows })
  const statusFor = async (headers: Record<string, string>) =>
    (await call('POST', '/workflow/w/terminate', undefined, { Host: 'portico.lan:3001', ...headers })).status

  expect(await statusFor({ Origin: 'http://portico.lan:3001' })).toBe(200)
  expect(await statusFor({ Origin: 'http://evil.example' })).toBe(403)
  expect(await statusFor({ Origin: 'http://portico.lan' })).toBe(403)
  expect(await statusFor({ Origin: 'null' })).toBe(403)
})

test('cross-site: a page of the same site but another origin is rejected, unless CORS allows it (threat 59)', async () => {
  const sibling = { Host: 'api.example.com', Origin: 'https://blog.example.com', 'Sec-Fetch-Site': 'same-site' }

  expect((await makeApi({ workflows }).call('POST', '/workflow/w/terminate', undefined, sibling)).status).toBe(403)
  const { call } = makeApi({ workflows, corsOrigins: ['https://blog.example.com'] })
  expect((await call('POST', '/workflow/w/terminate', undefined, sibling)).status).toBe(200)
})

test('cross-site: Sec-Fetch-Site same-origin is accepted, also behind a proxy that rewrites Host', async () => {
  const { call } = makeApi({ workflows })
  const proxied = { Host: '10.0.0.7:3001', Origin: 'https://portico.example.com', 'Sec-Fetch-Site': 'same-origin' }

  expect((await call('POST', '/workflow/w/terminate', undefined, proxied)).status).toBe(200)
})

const { call } = makeApi({ loopbackOnly: true, workflows: { ready: async () => 'reachable' as const } })
const statusFor = async (host: string) => (await call('GET', '/ready', undefined, { Host: host })).status

test('loopback: loopback names are accepted', async () => {
  const names = [
    'localhost',
    'localhost:3001',
    'LOCALHOST',
    'app.localhost:3001',
    '127.0.0.1:3001',
    '127.1.2.3',
    '[::1]:3001',
    '[::1]',
    '[0:0:0:0:0:0:0:1]:3001',
  ]

  expect(await Promise.all(names.map(statusFor))).toEqual(names.map(() => 200))
})

test('loopback: any other name is a 403, for reads too, because DNS rebinding may make it resolve to this machine (threat 61)', async () => {
  const names = [
    'evil.example:3001',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'notlocalhost',
    '0.0.0.0:3001',
    '10.0.0.1',
  ]

  expect(await Promise.all(names.map(statusFor))).toEqual(names.map(() => 403))
  expect(await rejection(await call('GET', '/workflow/w/status', undefined, { Host: 'evil.example' }))).toEqual([
    403,
    'ForbiddenError',
  ])
})

test('cross-site: `*` does not allow a password that the browser has stored, but a listed origin does (threat 59)', async () => {
  const statusFor = async (corsOrigins: string[], authorization: string) => {
    const { call } = makeApi({ workflows, corsOrigins })
    return (await call('POST', '/workflow/w/terminate', undefined, { ...foreign, Authorization: authorization })).status
  }

  expect(await statusFor(['*'], 'Basic dTpw')).toBe(403)
  expect(await statusFor(['*'], 'basic dTpw')).toBe(403)
  expect(await statusFor(['*'], 'Bearer t')).toBe(200)
  expect(await statusFor(['*', 'https://evil.example'], 'Basic dTpw')).toBe(200)
})
