import { hash } from 'node:crypto';
import {
  type ChannelOptions,
  connectivityState,
  experimental,
  Metadata,
  type MetadataOptions,
  status,
} from '@grpc/grpc-js';

const { READY, CONNECTING, TRANSIENT_FAILURE, IDLE } = connectivityState;
const { DROP } = experimental.PickResultType;
const POLICY = 'brand_data_replica_order';

/** Which replica of a service a call goes to. */
export interface ReplicaChoice {
  /** Each key has its own order of the replicas, which is the same for all clients. */
  key: string;
  /**
   * 0 for the first connected replica in that order, 1 for the next. After the last comes the first again. The channel sets it to
   * the place of the replica that the call goes to.
   */
  attempt: number;
  /**
   * The calls with the same request that are not answered yet. The call goes to a replica that has none of them. If no such replica
   * is connected, it fails at once, because a second copy would only slow a replica that is late.
   */
  others?: readonly ReplicaChoice[];
  /** The replica that the call goes to, set by the channel. Places in the order change when a connection is lost or made. */
  address?: string;
}

/** The option of a channel under which it counts the replicas that it is connected to: `{ replicas: 0 }`. */
export const CONNECTED = 'brand_data.connected';

/** The part of a channel's service configuration that chooses this policy. Calls that name no replica go to all in turn. */
export const REPLICA_ORDER = { loadBalancingConfig: [{ [POLICY]: {} }] };

/** gRPC copies the metadata of a call, and the copies share its options. */
const choices = new WeakMap<MetadataOptions, ReplicaChoice>();

export function nameReplica(metadata: Metadata, replica: ReplicaChoice): void {
  choices.set(metadata.getOptions(), replica);
}

export function replicaNamed(metadata: Metadata): ReplicaChoice | undefined {
  return choices.get(metadata.getOptions());
}

/** gRPC does not repeat a dropped call. */
const ALL_ASKED: experimental.PickResult = {
  pickResultType: DROP,
  subchannel: null,
  status: { code: status.UNAVAILABLE, details: 'every replica has this request', metadata: new Metadata() },
  onCallStarted: null,
  onCallEnded: null,
};

interface Replica {
  address: string;
  picker: experimental.Picker;
}

/** Rendezvous hashing: when a replica is added or removed, the other replicas keep their order. */
class OrderPicker implements experimental.Picker {
  readonly #replicas: readonly Replica[];
  #turn = Math.floor(Math.random() * 1_000_000);

  constructor(replicas: readonly Replica[]) {
    this.#replicas = replicas;
  }

  pick(args: experimental.PickArgs): experimental.PickResult {
    const choice = replicaNamed(args.metadata);
    const replica = choice ? this.#choose(choice) : this.#replicas[this.#turn++ % this.#replicas.length];
    return replica ? replica.picker.pick(args) : ALL_ASKED;
  }

  #choose(choice: ReplicaChoice): Replica | undefined {
    const order = orderOf(choice.key, this.#replicas);
    const asked = new Set(choice.others?.map(({ address }) => address));
    const isFree = ({ address }: Replica) => !asked.has(address);
    const start = choice.attempt % order.length;
    const replica = order.slice(start).find(isFree) ?? order.find(isFree);
    if (replica) Object.assign(choice, { attempt: order.indexOf(replica), address: replica.address });
    return replica;
  }
}

function orderOf(key: string, replicas: readonly Replica[]): Replica[] {
  const scored = replicas.map((replica) => ({ replica, score: hash('sha1', `${key} ${replica.address}`) }));
  return scored.sort((a, b) => (a.score < b.score ? -1 : 1)).map(({ replica }) => replica);
}

class OrderConfig implements experimental.TypedLoadBalancingConfig {
  getLoadBalancerName(): string {
    return POLICY;
  }

  toJsonObject(): object {
    return { [POLICY]: {} };
  }

  static createFromJson(): OrderConfig {
    return new OrderConfig();
  }
}

/**
 * A load-balancing policy for gRPC. It connects to every address of the channel's target, so that each call can choose its
 * replica. gRPC's policies for Node send each call to the next replica in turn. With them, a repeated request may reach the same
 * hanging replica again if other calls come in between.
 */
class OrderBalancer implements experimental.LoadBalancer {
  readonly #channel: experimental.ChannelControlHelper;
  #children: { address: string; balancer: experimental.LeafLoadBalancer }[] = [];
  #state = IDLE;
  #lastError: string | null = null;
  #connected = { replicas: 0 };

  constructor(channel: experimental.ChannelControlHelper) {
    this.#channel = channel;
  }

  updateAddressList(
    endpoints: experimental.StatusOr<experimental.Endpoint[]>,
    config: experimental.TypedLoadBalancingConfig,
    options: ChannelOptions,
    resolutionNote: string,
  ): boolean {
    if (!(config instanceof OrderConfig)) return false;
    this.#connected = options[CONNECTED] ?? this.#connected;
    if (!endpoints.ok) {
      this.#lastError = endpoints.error.details;
      if (this.#children.length === 0) this.#report();
      return true;
    }
    const helper = experimental.createChildChannelControlHelper(this.#channel, {
      updateState: (_state, _picker, error) => {
        this.#lastError = error ?? this.#lastError;
        // Ignore children that are still being created or have been replaced. Otherwise the channel would keep their state.
        if (this.#children === children) this.#report();
      },
    });
    const children = endpoints.value.map((endpoint) => ({
      address: experimental.endpointToString(endpoint),
      balancer: new experimental.LeafLoadBalancer(endpoint, helper, options, resolutionNote),
    }));
    for (const { balancer } of children) balancer.startConnecting();
    this.destroy();
    this.#children = children;
    this.#report();
    return true;
  }

  #report(): void {
    const states = this.#children.map(({ balancer }) => balancer.getConnectivityState());
    const state = [READY, CONNECTING, IDLE].find((each) => states.includes(each)) ?? TRANSIENT_FAILURE;
    // The replica that replaces a lost one has a new address.
    if (this.#state === READY && states.some((each) => each !== READY)) this.#channel.requestReresolution();
    this.#state = state;
    const ready = this.#ready();
    this.#connected.replicas = ready.length;
    if (state === READY) this.#channel.updateState(state, new OrderPicker(ready), null);
    else if (state === TRANSIENT_FAILURE) {
      const details = `no replica can be reached: ${this.#lastError ?? 'its name has no address'}`;
      this.#channel.updateState(state, new experimental.UnavailablePicker({ details }), details);
    } else this.#channel.updateState(state, new experimental.QueuePicker(this), null);
    this.exitIdle();
  }

  #ready(): Replica[] {
    return this.#children.flatMap(({ address, balancer }) =>
      balancer.getConnectivityState() === READY ? [{ address, picker: balancer.getPicker() }] : [],
    );
  }

  exitIdle(): void {
    for (const { balancer } of this.#children)
      if (balancer.getConnectivityState() === IDLE) balancer.exitIdle();
  }

  resetBackoff(): void {}

  destroy(): void {
    for (const { balancer } of this.#children) balancer.destroy();
    this.#children = [];
  }

  getTypeName(): string {
    return POLICY;
  }
}

experimental.registerLoadBalancerType(POLICY, OrderBalancer, OrderConfig);
