/** What happens to gateways, the engine, workers and the policy while clients are served. */
import type { EngineNetwork } from './engine-network.ts'
import type { Gateways } from './gateways.ts'
import type { Faults } from './profiles.ts'
import { randomOf } from './random.ts'
import type { Tenants } from './tenants.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface DisturbedWorld {
  seed: number
  time: VirtualTime
  faults: Faults
  gateways: Gateways
  /** The gateway that never ends, so that a leak of it can be seen at the end. */
  stable: object
  engine: Pick<EngineNetwork, 'setEngine'>
  workers: { isPolling: boolean }
  tenants: Tenants
  /** Publishes the next catalog. */
  publishCatalog(): void
  log(event: string): void
  admitFault(fault: string): boolean
  /** Whether all clients have left. */
  isOver(): boolean
}

export function disturb(world: DisturbedWorld): void {
  void restartGateways(world)
  void troubleOthers(world)
}

async function restartGateways({ seed, time, gateways, stable, isOver }: DisturbedWorld): Promise<void> {
  const random = randomOf(seed, 'restarts')
  while (!isOver()) {
    await time.sleep(500 + random.below(4000))
    const victim = gateways.all().find((gateway) => gateway !== stable)
    if (victim === undefined) continue
    if (random.chance(0.5)) gateways.kill(victim)
    else await gateways.stop(victim)
    await time.sleep(random.below(600))
    gateways.start()
  }
}

async function troubleOthers(world: DisturbedWorld): Promise<void> {
  const { seed, time, faults, engine, workers, log, admitFault, isOver } = world
  const random = randomOf(seed, 'troubles')
  const troubles: readonly [number, string, () => Promise<void>][] = [
    [
      faults.engineAway,
      'engine away',
      async () => {
        engine.setEngine('away')
        await time.sleep(random.below(6000))
        engine.setEngine('well')
      },
    ],
    [
      faults.engineSlow,
      'engine slow',
      async () => {
        engine.setEngine('slow')
        await time.sleep(random.below(6000))
        engine.setEngine('well')
      },
    ],
    [
      faults.workersAway,
      'workers away',
      async () => {
        log('workers end')
        workers.isPolling = false
        await time.sleep(random.below(12_000))
        workers.isPolling = true
        log('workers start')
      },
    ],
    [
      faults.policyChanged,
      'policy changed',
      async () => {
        world.tenants.change(time.now())
        world.gateways.setPolicy()
        log('another policy')
      },
    ],
    [faults.catalogChanged, 'catalog changed', async () => world.publishCatalog()],
  ]
  while (!isOver()) {
    await time.sleep(300 + random.below(2000))
    for (const [chance, fault, act] of troubles)
      if (random.below(1000) < 1000 * chance && !isOver() && admitFault(fault)) await act()
  }
}
