import type { HistoryEvent } from '../../../../src/temporal/outcome.ts'

/** At second `id`. */
export function event(id: number, attributes: HistoryEvent): HistoryEvent {
  return { eventId: number(id), eventTime: { seconds: number(id) }, ...attributes }
}

// protobufjs reads plain numbers as well; its types know only Long.
export const number = (value: number) => value as unknown as NonNullable<HistoryEvent['eventId']>
