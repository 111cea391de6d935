/** The value of a webhook's body, and whether the hook wants it. */
import type { Hook } from '../../../shared/hooks/hooks.ts'
import { objectOf } from '../../../shared/hooks/presets.ts'
import { type ReadHeader, textAt } from '../../../shared/hooks/schemes.ts'
import { findJsonSyntaxError } from '../../../shared/lib/json-syntax-error.ts'
import {
  decodeBody,
  FORM_TYPE,
  fromForm,
  isJsonType,
  mediaTypeOf,
  parseBody,
  requireIdentity,
  unsupportedType,
} from '../../http/pipeline/body.ts'

/** The value of a body: JSON, or an object with the fields of a form. */
export function readEvent(headers: Headers, bytes: Uint8Array<ArrayBuffer>, { scheme }: Hook): unknown {
  // Neither the type nor the charset of a signed body is signed. With another one, the text could choose the fields.
  const { forms: sendsForms = false } = objectOf(scheme)
  const type = mediaTypeOf(headers)
  const isForm = type === FORM_TYPE && sendsForms
  const isText = type === 'text/plain'
  const supported = sendsForms ? `application/json or ${FORM_TYPE}` : 'application/json'
  if (!isForm && !isText && !isJsonType(type)) throw unsupportedType(type, supported)
  requireIdentity(headers)
  const charset = scheme === 'token' ? charsetOf(headers) : 'utf-8'
  const text = decodeBody(bytes, charset)
  // Amazon SNS sends its JSON as text.
  if (isText && findJsonSyntaxError(text) !== null) throw unsupportedType(type, supported)
  if (!isForm) return parseBody(text)
  if (/^\s*[[{]/.test(text)) throw unsupportedType(type, 'application/json, because the body is JSON')
  const fields = fromForm(text, charset)
  const { payload } = fields
  return scheme !== 'token' && typeof payload === 'string' ? { ...fields, payload: parseBody(payload) } : fields
}

function charsetOf(headers: Headers): string {
  return /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(headers.get('Content-Type') ?? '')?.[1] ?? 'utf-8'
}

/** Whether the hook does something with the event. */
export function isWanted({ scheme, when = {} }: Hook, header: ReadHeader, event: unknown): boolean {
  const { ping } = objectOf(scheme)
  if (ping !== undefined && header(ping[0]) === ping[1]) return false
  return Object.entries(when).every(([name, values]) =>
    values.includes(name.startsWith('/') ? textAt(event, name) : (header(name) ?? '')),
  )
}
