/** Names of formats, for messages. They reject nothing: programs disagree on most formats. */

// Each with what any such string looks like. A string that does look like that violates more than the format.
const FORMATS: ReadonlyMap<unknown, readonly [name: string, look: RegExp]> = new Map([
  ['email', ['an email address', /^[^@\s]+@[^@\s]+$/]],
  ['idn-email', ['an email address', /^[^@\s]+@[^@\s]+$/]],
  ['uri', ['a URL', /^[a-z][a-z0-9+.-]*:\S+$/i]],
  ['uuid', ['a UUID', /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i]],
  ['guid', ['a UUID', /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i]],
  ['date', ['a date such as 2026-01-31', /^\d{4}-\d\d-\d\d$/]],
  ['time', ['a time such as 12:30:00', /^\d\d:\d\d/]],
  ['date-time', ['a time such as 2026-01-31T12:30:00Z', /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/i]],
  ['duration', ['a duration such as P1DT12H', /^P[\dTYMWDHS.,]+$/]],
  ['ipv4', ['an IPv4 address', /^\d+(?:\.\d+){3}$/]],
  ['ipv6', ['an IPv6 address', /^[0-9a-f:.]*:[0-9a-f:.]*$/i]],
  ['cidrv4', ['a range of IPv4 addresses', /^\d+(?:\.\d+){3}\/\d+$/]],
  ['cidrv6', ['a range of IPv6 addresses', /^[0-9a-f:.]*:[0-9a-f:.]*\/\d+$/i]],
  ['hostname', ['a host name', /^[a-z0-9.-]+$/i]],
  ['base64', ['base64', /^[A-Za-z0-9+/]*=*$/]],
  ['base64url', ['base64url', /^[\w-]*=*$/]],
  ['e164', ['a phone number such as +12025550123', /^\+\d+$/]],
  ['jwt', ['a JWT', /^[\w-]+\.[\w-]+\.[\w-]*$/]],
  ['ulid', ['a ULID', /^[0-9a-z]{26}$/i]],
  ['cuid', ['a CUID', /^c[^\s-]{8,}$/i]],
  ['cuid2', ['a CUID2', /^[0-9a-z]+$/]],
  ['nanoid', ['a Nano ID', /^[\w-]{21}$/]],
  ['ksuid', ['a KSUID', /^[A-Za-z0-9]{27}$/]],
  ['xid', ['an XID', /^[0-9a-v]{20}$/i]],
  ['emoji', ['emoji', /^\P{ASCII}+$/u]],
])

// Longer strings are of none of these formats, and a match must not cost much.
const MAX_LENGTH = 2000

/** What a string must be that does not look like its format. Null for a format without a name, and if it does. */
export function formatMessage(format: unknown, value: string): string | null {
  const [name, look] = FORMATS.get(format) ?? []
  if (name === undefined || look === undefined || (value.length <= MAX_LENGTH && look.test(value))) return null
  return `must be ${name}`
}
