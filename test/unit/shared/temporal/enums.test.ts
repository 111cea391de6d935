import proto from '@temporalio/proto'
import { expect, test } from 'vitest'
import * as ours from '../../../../src/shared/temporal/enums.ts'

test.for(Object.entries(ours))('%s: has the numbers that Temporal’s own package has', ([name, numbers]) => {
  const theirs = new Map(Object.entries(proto.temporal.api.enums.v1)).get(name)

  expect(theirs).toMatchObject(
    Object.fromEntries(Object.entries(numbers).map(([value, number]) => [`${prefixOf(name)}${value}`, number])),
  )
})

/** `TaskQueueType` has `TASK_QUEUE_TYPE_WORKFLOW`. */
function prefixOf(name: string): string {
  return `${name.replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '_'}${letter}`).toUpperCase()}_`
}
