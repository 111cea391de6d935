/** Defects that a simulation has to find, besides those of the soak. */
import { type Mutant, MUTANTS as OF_SOAK } from '../../../lab/soak/mutants/list.ts'
import type { ProfileName } from '../profiles.ts'
import { OF_INVARIANTS } from './invariants.ts'
import { REVERTED } from './reverted.ts'

export interface SimulatedMutant extends Mutant {
  /** Default: `usual`. */
  profile?: ProfileName
  /** Whether clients only carry out scenarios in which ids are used again. Default: no. */
  isOnUsedIds?: true
  /** One that finds it, which is tried first. Default: 1. */
  seed?: number
}

const OWN: readonly SimulatedMutant[] = [
  {
    name: 'service: a start whose response was lost does not recognize its run',
    file: 'src/service/engine/calls/at-most-once/find-run.ts',
    target: 'startedByRequest: requestId !== undefined &&',
    replacement: 'startedByRequest: requestId === "" &&',
    profile: 'heavy',
  },
  {
    name: 'service: a wait that everyone has left keeps its poll',
    file: 'src/service/engine/waits/shared-waits.ts',
    target: 'if (watch.waiters.size === 0) forget(watch)',
    replacement: 'if (watch.waiters.size < 0) forget(watch)',
  },
  {
    name: 'service: an interval of the watchdog stays',
    file: 'src/service/engine/rpc.ts',
    target: '    clearInterval(pinging)\n',
    replacement: '',
  },
]

// Clients send few resets, and repeat one only if the response of the service is lost.
const RARE = 'client: a reset whose response was lost is sent again'
const ofSoak = OF_SOAK.map(
  (mutant): SimulatedMutant => (mutant.name === RARE ? { ...mutant, profile: 'heavy' } : mutant),
)

export const MUTANTS: readonly SimulatedMutant[] = [...ofSoak, ...OWN, ...OF_INVARIANTS, ...REVERTED]
