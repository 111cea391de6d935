import { type ErrorFacts, ServiceError } from './errors.ts'

/** A value that the engine holds only a reference to: workers keep large ones in a store of their own. */
export interface StoredElsewhere {
  /** Size of the stored value; 0 when its reference does not say. */
  sizeBytes: number
}

/** To throw where the value was the answer. */
export function outputStoredElsewhere(output: string, { sizeBytes }: StoredElsewhere, facts: ErrorFacts): ServiceError {
  const reason = `is stored outside the engine (${sizeBytes} bytes), where this service cannot read it`
  const advice = 'it needs ENGINE_CODEC_ENDPOINT, a codec server with /download'
  return new ServiceError('NotSupportedError', `${output} ${reason}: ${advice}`, { details: { ...facts, sizeBytes } })
}
