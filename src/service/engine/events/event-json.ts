/** History events as JSON, with the engine's names. Fields that are not set, or not meant for clients, are left out. */

import { toBase64 } from '../../../shared/lib/base64.ts'
import { isObject } from '../../../shared/lib/json.ts'
import { withoutIdentities } from '../../../shared/temporal/failure.ts'
import type { TemporalEvent as EventMessage } from '../../../shared/temporal/outcome.ts'
import type { Payload } from '../../../shared/temporal/payload.ts'
import { redactMachineDetails } from '../../../shared/temporal/redact-machine-details.ts'
import { toDate } from '../../../shared/temporal/time.ts'
import { IDEMPOTENCY_MEMO } from '../../../shared/wire/memo-keys.ts'
import type { HistoryEvent } from '../../model/history-page.ts'
import type { HttpSchema } from '../transport/http/schema.ts'
import { createTypeTable } from '../transport/http/type-table.ts'

/** How values of workflows and clients are shown. */
export interface ValueConverter {
  /** Undefined leaves the value out. */
  payload(payload: Payload): unknown
  /** The message of a failure. */
  message(text: string): string
}

/** Undefined for a value that is not set. Both transports leave out some of these values, but not the same ones. */
type Convert = (value: unknown, values: ValueConverter) => unknown

export type EventToJson = (event: EventMessage, values: ValueConverter) => HistoryEvent

// They name hosts and processes, contain stack traces, or authorize callers of the engine.
const LEFT_OUT: ReadonlySet<string> = new Set([
  'identity',
  'principal',
  'stackTrace',
  'source',
  'encodedAttributes',
  'operationToken',
  'completionCallbacks',
])

// The `TaskQueueKind` of a queue that only one worker process polls. Such a queue is named after the host.
const STICKY = 2

/** Creates the converter for the message types of the schema. */
export function createEventToJson(schema: Pick<HttpSchema, 'enums' | 'messages'>): EventToJson {
  const converterOf = createTypeTable<Convert>(schema, {
    known: SCALARS,
    list: listConverter,
    map: mapConverter,
    enum: enumConverter,
    message(name, fields) {
      const plain = messageConverter(converterOf, fields)
      const special = SPECIAL.get(name)
      return special === undefined ? plain : (value, values) => special(value as object, values, plain)
    },
  })
  const toFields = messageConverter(converterOf, schema.messages.HistoryEvent)

  return ({ version: _, taskId: __, links: ___, eventId, eventTime, eventType, ...event }, values) => {
    const { workerMayIgnore, eventGroupMarkers, ...fields } = (toFields({ ...event, eventType }, values) ??
      {}) as Fields
    const { eventType: name = 'Unknown', ...rest } = fields
    const attributes = Object.entries(rest).find(([key]) => key.endsWith('EventAttributes'))
    const others = Object.entries(rest).filter((entry) => entry[0] !== attributes?.[0])
    return {
      eventId: Number(eventId ?? 0),
      eventType: String(name),
      eventTime: toDate(eventTime),
      ...(attributes?.[1] as Fields | undefined),
      ...Object.fromEntries(others),
    }
  }
}

function messageConverter(
  converterOf: (type: string) => Convert,
  fieldTypes: Readonly<Record<string, string>> = {},
): Convert {
  const types = new Map(Object.entries(fieldTypes).filter(([name]) => !LEFT_OUT.has(name)))
  return (message, values) => {
    const fields = Object.entries(message as object).flatMap(([name, value]) => {
      const fieldType = types.get(name)
      const json = fieldType === undefined || value == null ? undefined : converterOf(fieldType)(value, values)
      return json === undefined ? [] : [[name, json] as const]
    })
    return fields.length === 0 ? undefined : Object.fromEntries(fields)
  }
}

type Fields = Record<string, unknown>

type Special = (message: object, values: ValueConverter, plain: Convert) => unknown

const SPECIAL: ReadonlyMap<string, Special> = new Map<string, Special>([
  ['Payloads', unwrap('payloads')],
  ['Memo', withoutStartKey],
  ['Header', unwrap('fields')],
  ['SearchAttributes', unwrap('indexedFields')],
  ['TaskQueue', withoutStickyName],
  ['Failure', withMessage],
  ['WorkflowTaskFailedEventAttributes', withoutMachineDetails],
])

/** Shows the value of the message's only field instead of the message. */
function unwrap(field: string): Special {
  return (message, values, plain) => (plain(message, values) as Fields | undefined)?.[field]
}

function withoutStartKey(message: object, values: ValueConverter, plain: Convert) {
  const { [IDEMPOTENCY_MEMO]: _, ...fields } = (unwrap('fields')(message, values, plain) ?? {}) as Fields
  return Object.keys(fields).length === 0 ? undefined : fields
}

function withoutStickyName(
  queue: { kind?: number; name?: string; normalName?: string },
  values: ValueConverter,
  plain: Convert,
) {
  return plain(queue.kind === STICKY ? { ...queue, name: queue.normalName } : queue, values)
}

/** Reads the message from the encoded attributes, if a codec has moved it there together with the stack. */
function withMessage(
  failure: { message?: string; encodedAttributes?: Payload },
  values: ValueConverter,
  plain: Convert,
) {
  const { message = '', encodedAttributes, ...rest } = failure
  const decoded = encodedAttributes ? values.payload(encodedAttributes) : undefined
  const text = isObject(decoded) && typeof decoded.message === 'string' ? decoded.message : message
  return { message: values.message(withoutIdentities(text)), ...(plain(rest, values) as Fields | undefined) }
}

/** The message of a failed workflow task is one of the SDK, and often contains a stack. */
function withoutMachineDetails(attributes: object, values: ValueConverter, plain: Convert): unknown {
  return plain(attributes, { ...values, message: (text) => values.message(redactMachineDetails(text)) })
}

const toNumber: Convert = (value) => Number(value) || undefined
const unlessEmpty: Convert = (value) => value || undefined

const SCALARS: ReadonlyMap<string, Convert> = new Map<string, Convert>([
  ['string', unlessEmpty],
  ['bool', unlessEmpty],
  ['bytes', (bytes) => toBase64(bytes as Uint8Array) || undefined],
  ['int32', toNumber],
  ['uint32', toNumber],
  ['int64', toNumber],
  ['float', toNumber],
  ['double', toNumber],
  ['Timestamp', (time) => toDate(time as Parameters<typeof toDate>[0]) ?? undefined],
  ['Duration', toSeconds],
  ['Payload', (payload, values) => values.payload(payload as Payload)],
])

/** Like `90s` or `0.25s`. */
function toSeconds(duration: unknown): string | undefined {
  const { seconds, nanos } = duration as { seconds?: unknown; nanos?: number | null }
  const total = Number(seconds ?? 0) + (nanos ?? 0) / 1e9
  return total === 0 ? undefined : `${total}s`
}

function listConverter(convert: Convert): Convert {
  return (list, values) => {
    const items = (list as unknown[]).map((item) => convert(item, values)).filter((item) => item !== undefined)
    return items.length === 0 ? undefined : items
  }
}

function mapConverter(convert: Convert): Convert {
  return (map, values) => {
    const entries = Object.entries(map as object).flatMap(([key, value]) => {
      const json = convert(value, values)
      return json === undefined ? [] : [[key, json] as const]
    })
    return entries.length === 0 ? undefined : Object.fromEntries(entries)
  }
}

/** `RETRY_STATE_IN_PROGRESS` becomes `InProgress`. Undefined for a value of a newer engine. */
function enumConverter(type: string, numbers: Readonly<Record<string, number>>): Convert {
  const prefix = `${type.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()}_`
  const names = new Map(
    Object.entries(numbers).map(([name, number]) => [
      number,
      toPascalCase(name.startsWith(prefix) ? name.slice(prefix.length) : name),
    ]),
  )
  return (number) => (number === 0 ? undefined : names.get(number as number))
}

function toPascalCase(name: string): string {
  return name.toLowerCase().replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
