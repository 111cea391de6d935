import type { TemporalEvent } from '../../../../../src/shared/temporal/outcome.ts'

/** At second `id`. */
export function event(id: number, attributes: TemporalEvent): TemporalEvent {
  return { eventId: number(id), eventTime: { seconds: number(id) }, ...attributes }
}

// protobufjs reads plain numbers as well; its types know only Long.
export const number = (value: number) => value as unknown as NonNullable<TemporalEvent['eventId']>
