context->SetBlockDim(8);
return 0;
