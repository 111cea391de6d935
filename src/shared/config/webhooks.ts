/**
 * The endpoints that receive a message when a run ends or has a problem: `SERVICE_WEBHOOKS`. `docs/webhooks.md`
 * describes them.
 */
import * as z from 'zod/mini'
import { BASE64_SECRET_PREFIX } from '../hooks/hook-schemes.ts'
import { fromBase64 } from '../lib/base64.ts'
import { checkedString } from '../wire/checked-string.ts'
import {
  type FileText,
  listOf,
  name,
  parseDocument,
  parseFile,
  parseWith,
  privateUrl,
  recordOf,
} from './json-document.ts'
import { prototypeKeys, shownPointer } from './policy-mistakes.ts'
import { namePatternIssue } from './policy-pattern.ts'
import { anyString, type Variables } from './variables.ts'

/** How the last run of a chain can end. */
export const WEBHOOK_STATUSES = ['completed', 'failed', 'canceled', 'terminated', 'timed_out'] as const

export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number]

/** What an endpoint can be told: how a run has ended, or that its workflow tasks fail again and again. */
export const WEBHOOK_EVENTS = [...WEBHOOK_STATUSES, 'problem'] as const

export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

export interface WebhookEndpoint {
  name: string
  url: string
  /** Each signs every message, so that the receiver can replace one at any time. */
  secrets: readonly Uint8Array[]
  /** Names of workflows; one that ends in `*` is a prefix. */
  workflows: readonly string[]
  on: readonly WebhookEvent[]
  include: readonly ('error' | 'output')[]
}

export type ReadFile = (path: string) => FileText

/** Empty if neither of the variables is set. */
export function webhooksConfig(variables: Variables, readFile: ReadFile): WebhookEndpoint[] {
  const { read, report } = variables
  const text = read('SERVICE_WEBHOOKS', anyString)
  const path = read('SERVICE_WEBHOOKS_FILE', anyString)
  if (text !== null && path !== null) report('SERVICE_WEBHOOKS and SERVICE_WEBHOOKS_FILE must not be set together')
  return [
    ...(text === null ? [] : endpointsOf('SERVICE_WEBHOOKS', { text }, variables)),
    ...(path === null ? [] : endpointsOf('SERVICE_WEBHOOKS_FILE', readFile(path), variables)),
  ]
}

function endpointsOf(variable: string, file: FileText, variables: Variables): WebhookEndpoint[] {
  const parsed = parseFile(file, parseWebhooks)
  if ('issues' in parsed) {
    for (const issue of parsed.issues) variables.report(`${variable} ${issue}`)
    return []
  }
  return Object.entries(parsed.endpoints).map(
    ([name, { secretEnv, workflows = ['*'], include = [], ...endpoint }]) => ({
      name,
      ...endpoint,
      workflows,
      include,
      secrets: secretEnv.flatMap((secret, index) => {
        const place = shownPointer(['endpoints', name, 'secretEnv', index])
        if (!variables.isSet(secret)) variables.report(`${variable} ${place} names ${secret}, which is not set`)
        return variables.read(secret, secretValue) ?? []
      }),
    }),
  )
}

// The limits of the specification: https://github.com/standard-webhooks/standard-webhooks
const MIN_SECRET_BYTES = 24
const MAX_SECRET_BYTES = 64

const secretValue = z.pipe(
  z.pipe(
    anyString,
    z.transform((value) =>
      value.startsWith(BASE64_SECRET_PREFIX) ? bytesOf(value.slice(BASE64_SECRET_PREFIX.length)) : null,
    ),
  ),
  z.custom<Uint8Array>(
    (bytes) => bytes instanceof Uint8Array && bytes.length >= MIN_SECRET_BYTES && bytes.length <= MAX_SECRET_BYTES,
    {
      error: `must be "${BASE64_SECRET_PREFIX}" and the base64 of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} random bytes`,
    },
  ),
)

/** Padded and in the standard alphabet, as the libraries of receivers require it. */
function bytesOf(base64: string): Uint8Array | null {
  const isBase64 = base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64)
  return isBase64 ? fromBase64(base64) : null
}

const secretName = checkedString((value) =>
  // A value may be a secret in the wrong place.
  /^SERVICE_WEBHOOK_[A-Z0-9_]+$/.test(value)
    ? null
    : 'must be the name of a variable that begins with SERVICE_WEBHOOK_',
)

const schema = z.strictObject({
  version: z.literal(1, { error: 'must be 1' }),
  endpoints: recordOf(
    name,
    z.strictObject({
      url: privateUrl,
      secretEnv: listOf(secretName),
      workflows: z.exactOptional(listOf(checkedString(namePatternIssue))),
      on: z._default(listOf(z.enum(WEBHOOK_EVENTS, { error: `must be one of ${WEBHOOK_EVENTS.join(', ')}` })), [
        ...WEBHOOK_STATUSES,
      ]),
      include: z.exactOptional(z.array(z.enum(['output', 'error'], { error: 'must be output or error' }))),
    }),
  ),
})

type Endpoints = z.output<typeof schema>['endpoints']

function parseWebhooks(text: string): { endpoints: Endpoints } | { issues: string[] } {
  const parsed = parseDocument(text)
  if ('issues' in parsed) return parsed
  const valid = parseWith(schema, parsed.value, prototypeKeys(parsed.value))
  return 'issues' in valid ? valid : { endpoints: valid.data.endpoints }
}
