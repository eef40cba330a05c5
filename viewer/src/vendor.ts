// What the page uses of the libraries: bundled into vendor.js, which changes when a library does and not when our code does.
export {
  AmbientLight,
  BatchedMesh,
  Box3,
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  CapsuleGeometry,
  CircleGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DirectionalLight,
  DoubleSide,
  DynamicDrawUsage,
  Group,
  HemisphereLight,
  InstancedMesh,
  LatheGeometry,
  LineSegments,
  LineBasicMaterial,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  NeutralToneMapping,
  Object3D,
  PCFShadowMap,
  PerspectiveCamera,
  Plane,
  PlaneGeometry,
  Quaternion,
  Ray,
  Raycaster,
  RingGeometry,
  Scene,
  SphereGeometry,
  SRGBColorSpace,
  TorusGeometry,
  Vector2,
  Vector3,
  Vector4,
  WebGLRenderer,
} from 'three';
export type { Material } from 'three';
export { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
export { mergeGeometries } from 'three/examples/jsm/utils/BufferGeometryUtils.js';
export { LineSegments2 } from 'three/examples/jsm/lines/LineSegments2.js';
export { LineSegmentsGeometry } from 'three/examples/jsm/lines/LineSegmentsGeometry.js';
export { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
export { default as Plot } from 'uplot';
export { ArrayBufferTarget, Muxer } from 'webm-muxer';
