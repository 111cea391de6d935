import { type ErrorName, ServiceError } from '../model/errors.ts'

/** Messages for people who do not know workflows. */
const MESSAGES: ReadonlyMap<ErrorName, string> = new Map([
  ['WorkflowNotFoundError', 'What this link is about does not exist any more'],
  ['WorkflowNotRunningError', 'No answer is expected any more: the workflow has ended, or has started over'],
  ['ActivityNotFoundError', 'No answer is expected any more: it has been given elsewhere, or too late'],
  ['QuestionNotFoundError', 'No answer is expected any more: the question was answered elsewhere, or withdrawn'],
  ['WorkflowNotReadyError', 'The answer could not be processed yet; the link can still be used. Try again later'],
  ['DeadlineExceededError', 'There is no response yet; the link can still be used. Try again later'],
])

const UNAVAILABLE = 'The answer could not be delivered; the link can still be used. Try again later'

// These errors keep their messages, which are about what the person has sent, or about the link itself.
const OF_THE_ANSWER: readonly ErrorName[] = ['LinkUsedError', 'ValidationError']

/** Settles as `act` does, but its errors have no ids: the holder of a link is not a client of the service. */
export async function forHolder<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof ServiceError ? withoutIds(error) : error
  }
}

function withoutIds(error: ServiceError): ServiceError {
  const { error: name, message, details } = error
  const { issues, retryAfterSeconds, recorded, at, errorDetails } = details
  const kept = {
    ...(issues && { issues }),
    ...(recorded !== undefined && { recorded }),
    ...(at !== undefined && { at }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
  const reason = errorDetails?.message ?? 'the workflow has rejected the answer'
  const own = OF_THE_ANSWER.includes(name) || (name === 'DeadlineExceededError' && details.workflowId === undefined)
  const text = name === 'UpdateFailedError' ? reason : own ? message : (MESSAGES.get(name) ?? UNAVAILABLE)
  return new ServiceError(name, text, { cause: error, details: kept })
}
