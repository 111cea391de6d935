/** A payload converter in the shape of Temporal's EJSON sample: dates stay dates, as JSON that says so. */
import {
  CompositePayloadConverter,
  type Payload,
  type PayloadConverterWithEncoding,
  UndefinedPayloadConverter,
} from '@temporalio/common'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const ENCODING = 'json/plain'

const dates: PayloadConverterWithEncoding = {
  encodingType: ENCODING,
  toPayload: (value: unknown): Payload => ({
    metadata: { encoding: encoder.encode(ENCODING) },
    data: encoder.encode(JSON.stringify(marked(value))),
  }),
  fromPayload: <T>({ data }: Payload) =>
    JSON.parse(decoder.decode(data ?? new Uint8Array()), (_key, value) =>
      isMarked(value) ? new Date(value.$date) : value,
    ) as T,
}

export const payloadConverter = new CompositePayloadConverter(new UndefinedPayloadConverter(), dates)

function marked(value: unknown): unknown {
  if (value instanceof Date) return { $date: value.toISOString() }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, marked(each)]))
}

function isMarked(value: unknown): value is { $date: string } {
  return typeof value === 'object' && value !== null && '$date' in value && typeof value.$date === 'string'
}
