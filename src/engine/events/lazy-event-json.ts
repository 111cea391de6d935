import { type Lazy, lazy } from '../../lib/lazy.ts'
import type { EventToJson } from './event-json.ts'

/** Needs the types of all events, which the HTTP transport has as a table. Most processes never read a history. */
export function lazyEventToJson(): Lazy<EventToJson> {
  return lazy(
    () => Promise.all([import('./event-json.ts'), import('../transport/http/schema.ts')]),
    ([{ createEventToJson }, { httpSchema }]) => createEventToJson(httpSchema()),
  )
}
