/** Errors that endpoints have in common. */
import type { ErrorName } from '../../model/errors.ts'

/** A request that calls the engine. */
export const ENGINE_ERRORS: readonly ErrorName[] = [
  'OverloadedError',
  'ResourceExhaustedError',
  'NotSupportedError',
  'EngineError',
  'EngineUnavailableError',
]

/** A request about one workflow. */
export const RUN_ERRORS: readonly ErrorName[] = [...ENGINE_ERRORS, 'WorkflowNotFoundError', 'PayloadCodecError']

/** A request that must not be carried out twice. */
export const EFFECT_ERRORS: readonly ErrorName[] = ['OutcomeUnknownError']

/** An update or a `run`: a request that has an effect, and then reads a result. */
export const RESULT_ERRORS: readonly ErrorName[] = [...EFFECT_ERRORS, 'ResultUnreadableError']

/** A request with a body. */
export const BODY_ERRORS: readonly ErrorName[] = ['UnsupportedMediaTypeError']

/** A request that starts a workflow. */
export const START_ERRORS: readonly ErrorName[] = [
  ...ENGINE_ERRORS,
  ...BODY_ERRORS,
  ...EFFECT_ERRORS,
  'WorkflowNotFoundError',
  'WorkflowAlreadyStartedError',
  'IdempotencyKeyReusedError',
  'UnsupportedWorkflowError',
  'PayloadCodecError',
  'CatalogNotAvailableError',
]
