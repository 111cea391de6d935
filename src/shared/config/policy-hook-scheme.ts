/** How the sender of a hook signs its events: the name of a preset, or an object. */
import * as z from 'zod/mini'
import { SCHEME_NAMES } from '../hooks/hook-schemes.ts'
import type { PresetName } from '../hooks/presets.ts'
import { pointerIssue } from '../lib/json.ts'
import { checkedString } from '../wire/checked-string.ts'
import { always, listOf } from './json-document.ts'

export const HEADER = /^[\w!#$%&'*+.^`|~-]+$/

export const headerName = z.string().check(z.regex(HEADER, { error: 'must be the name of a header' }))

// Headers with credentials of the request.
const SECRET_HEADERS = ['authorization', 'cookie', 'proxy-authorization']

export const headerList = listOf(
  headerName.check(
    z.refine((name) => !SECRET_HEADERS.includes(name.toLowerCase()), {
      error: 'must not be a header with a credential',
    }),
  ),
)

const pointer = checkedString((value) =>
  value.startsWith('/') ? pointerIssue(value) : 'must be a JSON Pointer into the body, such as /id',
)

const place = { header: z.exactOptional(headerName), body: z.exactOptional(pointer) }

function isOnePlace<T extends { header?: string; body?: string }>() {
  return z.refine<T>(({ header, body }) => (header === undefined) !== (body === undefined), {
    error: 'must contain either header or body',
    ...always,
  })
}

export const source = z.strictObject(place).check(isOnePlace())

const text = z.string().check(z.minLength(1, { error: 'must not be empty' }))

const listValue = {
  key: z.exactOptional(text),
  separator: z.exactOptional(z.enum([',', ';', ' '], { error: 'must be ",", ";" or " "' })),
  prefix: z.exactOptional(text),
}

const signature = z.strictObject({
  ...listValue,
  header: headerName,
  encoding: z.exactOptional(z.enum(['hex', 'base64'], { error: 'must be hex or base64' })),
})

const timestamp = z
  .strictObject({
    ...listValue,
    ...place,
    unit: z.exactOptional(z.enum(['s', 'ms', 'iso'], { error: 'must be s, ms or iso' })),
    toleranceSeconds: z.exactOptional(z.number().check(z.refine((value) => value > 0, { error: 'must be above 0' }))),
  })
  .check(isOnePlace())

const PLACEHOLDER = /\{([^{}]*)\}/g
const PLACEHOLDERS = ['body', 'id', 'timestamp', 'url']

const signed = checkedString((template) => {
  const names = [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
  if (names.filter((name) => name === 'body').length !== 1) return 'must contain {body} once'
  const isKnown =
    names.every((name) => PLACEHOLDERS.includes(name)) && !/[{}]/.test(template.replaceAll(PLACEHOLDER, ''))
  return isKnown ? null : `must contain no placeholders but ${PLACEHOLDERS.map((name) => `{${name}}`).join(', ')}`
})

const signatureScheme = z
  .strictObject({
    hmac: z.exactOptional(z.enum(['sha1', 'sha256', 'sha512'], { error: 'must be sha1, sha256 or sha512' })),
    signature,
    signed: z.exactOptional(signed),
    timestamp: z.exactOptional(timestamp),
    id: z.exactOptional(source),
    headers: z.exactOptional(headerList),
    forms: z.exactOptional(z.boolean()),
  })
  .check(
    z.check(({ value: { signed = '{body}', id, timestamp, signature, headers = [] }, issues }) => {
      const report = (key: string, message: string) => issues.push({ code: 'custom', input: '', path: [key], message })
      const signs = (name: string) => typeof signed === 'string' && signed.includes(`{${name}}`)
      if (signs('id') && id?.header === undefined) report('id', 'must name a header, because signed has {id}')
      if (signs('timestamp') && timestamp?.header === undefined)
        report('timestamp', 'must name a header, because signed has {timestamp}')
      if (timestamp?.header !== undefined && !signs('timestamp'))
        report('signed', 'must contain {timestamp}: anybody could change a time that is not signed')
      const proof = String(signature?.header).toLowerCase()
      if (Array.isArray(headers) && headers.some((name) => String(name).toLowerCase() === proof))
        report('headers', 'must not contain the header of the signature')
    }, always),
  )

const schemeName = z.string().check(
  z.refine((value) => SCHEME_NAMES.includes(value), {
    error: `must be an object, or one of ${SCHEME_NAMES.join(', ')}`,
  }),
)

export const scheme = z.union([
  z.pipe(
    schemeName,
    z.transform((value) => value as PresetName | 'token'),
  ),
  signatureScheme,
])
