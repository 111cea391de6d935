import { activityInfo, heartbeat, sleep } from '@temporalio/activity'
import { WorkflowStreamClient } from '@temporalio/workflow-streams/client'

/** An item of the topic `tokens`: a part of the answer, or the number of a new attempt, which begins it again. */
type Token = { text: string } | { attempt: number }

const WORD_MS = 60

/** Publishes the answer to the stream of its workflow, word by word, and returns it. */
export async function streamAnswer(question: string): Promise<string> {
  const stream = WorkflowStreamClient.fromWithinActivity({ batchInterval: '100ms' })
  const tokens = stream.topic<Token>('tokens')
  let answer = ''
  try {
    const { attempt } = activityInfo()
    if (attempt > 1) tokens.publish({ attempt })
    for await (const text of askModel(question)) {
      tokens.publish({ text })
      answer += text
      heartbeat()
    }
  } finally {
    // Sends the rest. In TypeScript, and since Node 24, `await using stream = …` does the same.
    await stream[Symbol.asyncDispose]()
  }
  return answer
}

/** In a real project, a call to a model provider. The same question always gets the same words. */
async function* askModel(question: string): AsyncGenerator<string> {
  const answer =
    `You asked: “${question}” I am not a model, but I can tell you how this text reaches you. An activity publishes ` +
    'one word after the other to the stream of its workflow. Portico reads the stream, once for all readers, and ' +
    'sends each word to this page as a server-sent event. Reload the page now: the workflow keeps running, the page ' +
    'reads the stream from its beginning, and no word is missing or doubled. When the run has ended, its result is ' +
    'the whole text.'
  for (const word of answer.split(/(?<= )/)) {
    await sleep(WORD_MS)
    yield word
  }
}
