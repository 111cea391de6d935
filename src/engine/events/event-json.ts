/** History events as JSON, with the engine's names. Fields that are not set, or not meant for clients, are left out. */
import type { HistoryEvent } from '../../domain/model/history-page.ts'
import { isObject } from '../../lib/is-object.ts'
import { IDEMPOTENCY_MEMO } from '../../protocol/memo-keys.ts'
import type { HistoryEvent as EventMessage } from '../../temporal/outcome.ts'
import type { Payload } from '../../temporal/payload.ts'
import { redactMachineDetails } from '../../temporal/redact-machine-details.ts'
import { toDate } from '../../temporal/time.ts'
import type { HttpSchema } from '../transport/http/schema.ts'
import {
  type Convert,
  enumConverter,
  listConverter,
  mapConverter,
  SCALARS,
  type ValueConverter,
} from './json-values.ts'

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

// `TaskQueueKind` of a queue that only one worker process polls. Its name contains that of the host.
const STICKY = 2

/** With the schema's types of messages, each of which is read on its first use. */
export function createEventToJson({ messages, enums }: Pick<HttpSchema, 'enums' | 'messages'>): EventToJson {
  const converters = new Map<string, Convert>(SCALARS)

  function converterOf(type: string): Convert {
    const converter = converters.get(type) ?? createConverter(type)
    converters.set(type, converter)
    return converter
  }

  function createConverter(type: string): Convert {
    if (type.startsWith('[]')) return listConverter(converterOf(type.slice(2)))
    if (type.startsWith('{}')) return mapConverter(converterOf(type.slice(2)))
    if (enums[type] !== undefined) return enumConverter(type, enums[type])
    const plain = messageConverter(type)
    const special = SPECIAL.get(type)
    return special === undefined ? plain : (value, values) => special(value as object, values, plain)
  }

  function messageConverter(type: string): Convert {
    const types = new Map(Object.entries(messages[type] ?? {}).filter(([name]) => !LEFT_OUT.has(name)))
    return (message, values) => {
      const fields = Object.entries(message as object).flatMap(([name, value]) => {
        const fieldType = types.get(name)
        const json = fieldType === undefined || value == null ? undefined : converterOf(fieldType)(value, values)
        return json === undefined ? [] : [[name, json] as const]
      })
      return fields.length === 0 ? undefined : Object.fromEntries(fields)
    }
  }

  const toFields = messageConverter('HistoryEvent')

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

/** The only field of the message takes the place of the message. */
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

/** A codec moves the message, with the stack, to the encoded attributes. */
function withMessage(
  failure: { message?: string; encodedAttributes?: Payload },
  values: ValueConverter,
  plain: Convert,
) {
  const { message = '', encodedAttributes, ...rest } = failure
  const decoded = encodedAttributes ? values.payload(encodedAttributes) : undefined
  const text = isObject(decoded) && typeof decoded.message === 'string' ? decoded.message : message
  return { message: values.message(text), ...(plain(rest, values) as Fields | undefined) }
}

/** The message of a failed workflow task is one of the SDK, and often contains a stack. */
function withoutMachineDetails(attributes: object, values: ValueConverter, plain: Convert): unknown {
  return plain(attributes, { ...values, message: (text) => values.message(redactMachineDetails(text)) })
}
