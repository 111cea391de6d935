import { type Lazy, lazy } from '../../../shared/lib/cache.ts'
import type { TemporalEvent as EventMessage } from '../../../shared/temporal/outcome.ts'
import type { Payload, PayloadReader } from '../../../shared/temporal/payload.ts'
import { REDACTED } from '../../../shared/wire/secret-names.ts'
import type { EventValues, HistoryEvent } from '../../model/history-page.ts'
import type { EventToJson } from './event-json.ts'

/** All payloads are decoded with one call, because a codec may be a remote server. */
export async function decodeEvents(
  events: readonly EventMessage[],
  toJson: EventToJson,
  payloads: Pick<PayloadReader, 'decode'>,
  { payloads: shown, redacted }: EventValues,
): Promise<HistoryEvent[]> {
  const message = (text: string) => (redacted ? REDACTED : text)
  if (redacted || !shown) {
    const payload = () => (shown ? REDACTED : undefined)
    return events.map((event) => toJson(event, { payload, message }))
  }
  const encoded: Payload[] = []
  for (const event of events) toJson(event, { payload: (payload) => void encoded.push(payload), message })
  const values = await payloads.decode(encoded)
  const decoded = new Map(encoded.map((payload, index) => [payload, values[index]]))
  return events.map((event) => toJson(event, { payload: (payload) => decoded.get(payload), message }))
}

/**
 * Loaded on first use: most processes never read a history, and the types of all events, a table of the HTTP transport,
 * take time to load.
 */
export function lazyEventToJson(): Lazy<EventToJson> {
  return lazy(
    () => Promise.all([import('./event-json.ts'), import('../transport/http/schema.ts')]),
    ([{ createEventToJson }, { httpSchema }]) => createEventToJson(httpSchema()),
  )
}
