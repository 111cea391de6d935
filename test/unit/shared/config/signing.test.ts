import { expect, test } from 'vitest'
import { toBase64Url } from '../../../../src/shared/lib/base64.ts'
import { issuesOf, parse, required } from './parsed.ts'

const keyOf = (byte: number, length = 32) => toBase64Url(new Uint8Array(length).fill(byte))

test('SERVICE_SIGNING_KEY: has one key, or several, the newest first', () => {
  expect(parse({ SERVICE_SIGNING_KEY: keyOf(1) }).signing.keys).toEqual([new Uint8Array(32).fill(1)])
  expect(parse({ SERVICE_SIGNING_KEY: `${keyOf(2, 40)}, ${keyOf(1)}` }).signing.keys).toEqual([
    new Uint8Array(40).fill(2),
    new Uint8Array(32).fill(1),
  ])
})

test.each([keyOf(1, 31), 'x', `${keyOf(1)}=`, `${keyOf(1)},short`, ','])(
  'SERVICE_SIGNING_KEY: %s is rejected, and not shown (threat 95)',
  (value) => {
    const issues = issuesOf({ ...required, SERVICE_SIGNING_KEY: value })

    expect(issues).toHaveLength(1)
    expect(issues[0]).toMatch(/^SERVICE_SIGNING_KEY must be base64url of at least 32 random bytes/)
    if (value.length > 1) expect(issues[0]).not.toContain(value)
  },
)

test('SERVICE_PUBLIC_URL: is the base of links, without a slash at its end', () => {
  expect(parse({ SERVICE_PUBLIC_URL: 'https://a.test/x/' }).signing.publicUrl).toBe('https://a.test/x')
  expect(parse({ SERVICE_PUBLIC_URL: 'https://a.test' }).signing.publicUrl).toBe('https://a.test')
  expect(issuesOf({ ...required, SERVICE_PUBLIC_URL: 'a.test' })).toEqual([
    'SERVICE_PUBLIC_URL must be a URL that begins with http:// or https://',
  ])
})

test('SERVICE_NAME: tells services with the same keys apart, unless their public origins do', () => {
  const deploymentOf = (env: Record<string, string>) => parse(env).signing.deployment

  expect(deploymentOf({})).toBeNull()
  expect(deploymentOf({ SERVICE_NAME: 'orders' })).toBe('orders')
  expect(deploymentOf({ SERVICE_NAME: 'orders', SERVICE_PUBLIC_URL: 'https://A.test:443/x' })).toBe('https://a.test')
})
